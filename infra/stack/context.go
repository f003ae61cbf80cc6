package stack

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// prefix marks the keys of CDK's context that are settings of this service.
const prefix = "lipsync:"

// What a text setting must match.
const (
	anything     = `.+`
	stackName    = `[A-Za-z][A-Za-z0-9-]{0,39}`
	email        = `[^@\s]+@[^@\s]+\.[^@\s]+`
	engine       = `warp|wav2lip`
	origin       = `\*|https?://[^/\s]+`
	instanceType = `[a-z][a-z0-9-]*\.[a-z0-9-]+`
)

// reader takes settings out of a context, and keeps the first error.
type reader struct {
	values   map[string]any
	inEffect map[string]string // what was read, by the keys of the context
	err      error
}

// finish returns the first error, or that there is a setting which nothing took.
func (r *reader) finish() error {
	for _, key := range slices.Sorted(maps.Keys(r.values)) {
		if strings.HasPrefix(key, prefix) {
			r.refuse("%s is not a setting of this service", key)
		}
	}
	return r.err
}

func (r *reader) refuse(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// take returns the setting's value as text, since the command line gives no
// other. A number is written in full: 1000000, not 1e+06. The context has it no
// more after that.
func (r *reader) take(key string) (string, bool) {
	value, found := r.values[prefix+key]
	delete(r.values, prefix+key)
	if number, ok := value.(float64); ok { // as JSON's numbers are
		return strconv.FormatFloat(number, 'f', -1, 64), found
	}
	return fmt.Sprint(value), found
}

// parsed returns what parse makes of the setting. Its error says what is wanted.
func parsed[T any](r *reader, key string, unset T, parse func(string) (T, error)) T {
	value := unset
	if text, found := r.take(key); found {
		var err error
		if value, err = parse(text); err != nil {
			r.refuse("%s%s is %q, but must be %w", prefix, key, text, err)
		}
	}
	r.inEffect[prefix+key] = fmt.Sprint(value)
	return value
}

func (r *reader) match(key, unset, pattern, want string) string {
	return parsed(r, key, unset, func(text string) (string, error) {
		if !regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString(text) {
			return "", errors.New(want)
		}
		return text, nil
	})
}

func (r *reader) oneOf(key, unset, other string) string {
	return r.match(key, unset, regexp.QuoteMeta(unset)+"|"+regexp.QuoteMeta(other), unset+" or "+other)
}

func (r *reader) flag(key string, unset bool) bool {
	return parsed(r, key, unset, func(text string) (bool, error) {
		if text != "true" && text != "false" {
			return false, errors.New("true or false")
		}
		return text == "true", nil
	})
}

func (r *reader) whole(key string, unset, least, most int) int {
	return parsed(r, key, unset, func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("a whole number from %d to %d", least, most)
		}
		return n, nil
	})
}

func (r *reader) duration(key string, unset, least, most time.Duration) time.Duration {
	return parsed(r, key, unset, func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if err != nil || d < least || d > most || d%time.Second != 0 {
			return 0, fmt.Errorf("a time in whole seconds from %s to %s, such as 90m", least, most)
		}
		return d, nil
	})
}

// list reads an array, or on the command line words between commas.
func (r *reader) list(key, pattern, want string, unset ...string) []string {
	if values, isArray := r.values[prefix+key].([]any); isArray {
		var words []string
		for _, v := range values {
			words = append(words, fmt.Sprint(v))
		}
		r.values[prefix+key] = strings.Join(words, ",")
	}
	each := `(?:` + pattern + `)`
	text := r.match(key, strings.Join(unset, ","), each+`(?:,`+each+`)*`, want+", or several between commas")
	return strings.Split(text, ",")
}

// logDays reads how many days CloudWatch is to keep logs, which it does only
// for certain numbers of days.
func (r *reader) logDays(key string, unset int) int {
	choices := []string{"1", "3", "5", "7", "14", "30", "60", "90", "120", "150", "180", "365", "400", "545", "731", "1827", "3653"}
	days := r.match(key, strconv.Itoa(unset), strings.Join(choices, "|"), "one of "+strings.Join(choices, ", "))
	n, _ := strconv.Atoi(days) // "" was refused
	return n
}

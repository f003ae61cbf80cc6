package settings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Values has the values of settings, from a program's environment on AWS or from CDK's context.
// (kong reads the flags of the command lipsync.)
type Values struct {
	getenv  func(name string) string // nil: the values are those of a context
	context map[string]string        // by key
	read    []Entry                  // in an environment
	errs    []error
}

// Environment returns the values in the environment of a function or a runner.
func Environment(getenv func(name string) string) *Values { return &Values{getenv: getenv} }

// Context returns the values in CDK's context. It returns an error if a value is not valid, or if a
// key begins with Prefix and is unknown.
func Context(all map[string]any) (*Values, error) {
	v := &Values{context: map[string]string{}}
	for key, value := range all {
		if strings.HasPrefix(key, prefix) {
			v.context[key] = written(value)
		}
	}
	unknown := maps.Clone(v.context)
	for _, e := range At(Stack | Passing) {
		e.ContextValue(v)
		delete(unknown, e.Line().Context())
	}
	for _, key := range slices.Sorted(maps.Keys(unknown)) {
		v.errs = append(v.errs, fmt.Errorf("%s is not a setting of this service", key))
	}
	if v.errs != nil {
		return nil, v.errs[0]
	}
	return v, nil
}

// written returns a value of a context as text, in the form in which the command line gives it:
// numbers in full, 1000000 and not 1e+06, and the words of a list separated by commas.
func written(value any) string {
	switch v := value.(type) {
	case float64: // JSON's numbers
		return asText(v)
	case []any:
		var words []string
		for _, word := range v {
			words = append(words, fmt.Sprint(word))
		}
		return strings.Join(words, ",")
	default:
		return fmt.Sprint(v)
	}
}

// Read returns the settings that were read in an environment so far.
func (v *Values) Read() []Entry { return v.read }

// Err returns the errors of all values that were read so far.
func (v *Values) Err() error { return errors.Join(v.errs...) }

// In returns the setting's value among v. If that is missing or bad, In returns the zero value, and
// Values.Err then returns an error.
func (s *Setting[T]) In(v *Values) (value T) {
	name, kind, wants := s.Env(), s.Kind, "want"
	var text string
	if v.getenv == nil {
		name, kind, wants = s.Context(), s.inStack(), "but must be"
		text = s.inContext(v)
	} else {
		v.read = append(v.read, s)
		if text = v.getenv(name); text == "" {
			if !s.Optional {
				v.errs = append(v.errs, fmt.Errorf("%s is not set", name))
			}
			return value
		}
	}
	read, ok := kind.parse(text)
	if !ok {
		v.errs = append(v.errs, fmt.Errorf("%s is %q, %s %s", name, text, wants, kind.want))
		return value
	}
	return read
}

// Value returns the value of a text that Check accepts.
func (s *Setting[T]) Value(text string) T {
	value, _ := s.Kind.parse(text)
	return value
}

// DefaultValue returns the default value.
func (s *Setting[T]) DefaultValue() T {
	return s.Value(s.Default)
}

// inContext returns the text of the setting's value in a context.
func (s *Setting[T]) inContext(v *Values) string {
	if text, given := v.context[s.Context()]; given {
		return text
	}
	if s.ContextDefault != nil {
		return s.ContextDefault(v)
	}
	return s.StackDefault()
}

func (s *Setting[T]) inStack() *Kind[T] {
	if s.InStack != nil {
		return s.InStack
	}
	return s.Kind
}

func (s *Setting[T]) Check(text string) error {
	if _, ok := s.Kind.parse(text); ok {
		return nil
	}
	want := s.Kind.want
	if s.Kind.flag != "" {
		want = s.Kind.flag
	}
	return fmt.Errorf("%s must be %s", s.Flag(), want)
}

func (s *Setting[T]) EnvValue(v *Values) string { return asText(s.In(v)) }

func (s *Setting[T]) ContextValue(v *Values) string { return s.counted(s.In(v)) }

func (s *Setting[T]) StackDefault() string {
	if s.inStack().unit == 0 {
		return s.Default
	}
	return s.counted(s.DefaultValue())
}

// counted returns a value as text for CDK's context, in the context's units.
func (s *Setting[T]) counted(value T) string {
	if bytes, ok := any(value).(Size); ok {
		return strconv.FormatInt(int64(bytes/s.inStack().unit), 10)
	}
	return asText(value)
}

package cloud

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// Settings reads a program's environment, and notes what is wrong with it.
type Settings struct {
	get  func(name string) string
	errs []error
}

// Err returns all that is wrong with what was read.
func (s *Settings) Err() error { return errors.Join(s.errs...) }

// fail notes a value that can't be used.
func (s *Settings) fail(name, value, want string) {
	s.errs = append(s.errs, fmt.Errorf("%s is %q, want %s", name, value, want))
}

// Text returns a variable that must be set.
func (s *Settings) Text(name string) string {
	value := s.get(name)
	if value == "" {
		s.errs = append(s.errs, errors.New(name+" is not set"))
	}
	return value
}

// Optional returns a variable that may be missing, which is "".
func (s *Settings) Optional(name string) string { return s.get(name) }

// positive reads a variable that must be set, and more than 0.
func positive[N int | int64 | float64 | time.Duration](s *Settings, name, want string, parse func(string) (N, error)) N {
	text := s.Text(name)
	if text == "" {
		return 0
	}
	n, err := parse(text)
	if err != nil || !(n > 0) {
		s.fail(name, text, want)
		return 0
	}
	return n
}

// Number reads a variable that must be a whole number above 0.
func (s *Settings) Number(name string) int {
	return positive(s, name, "a whole number above 0", strconv.Atoi)
}

// Address reads a variable that must be an absolute URL.
func (s *Settings) Address(name string) *url.URL {
	text := s.Text(name)
	u, err := url.Parse(text)
	if text != "" && (err != nil || u.Scheme == "" || u.Host == "") {
		s.fail(name, text, "an address such as https://example.com")
	}
	return u
}

// Bytes reads a variable that must be a number of bytes above 0.
func (s *Settings) Bytes(name string) int64 {
	return positive(s, name, "a whole number above 0", func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) })
}

// Fraction reads a variable that must be a number above 0.
func (s *Settings) Fraction(name string) float64 {
	return positive(s, name, "a number above 0", func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
}

// Duration reads a variable that must be a time above 0, such as 90m.
func (s *Settings) Duration(name string) time.Duration {
	return positive(s, name, "a time above 0, such as 90m", time.ParseDuration)
}

// Truth reads a variable that may be missing, which is false.
func (s *Settings) Truth(name string) bool {
	text := s.get(name)
	if text == "" {
		return false
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		s.fail(name, text, "true or false")
	}
	return b
}

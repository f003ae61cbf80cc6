package cloud

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// settings reads a program's environment, and notes what is wrong with it.
type settings struct {
	get  func(name string) string
	errs []error
}

// text returns a variable that must be set.
func (s *settings) text(name string) string {
	value := s.get(name)
	if value == "" {
		s.errs = append(s.errs, errors.New(name+" is not set"))
	}
	return value
}

// positive reads a variable that must be a number above 0.
func positive[N int | int64 | float64 | time.Duration](s *settings, name string, parse func(string) (N, error)) N {
	text := s.text(name)
	if text == "" {
		return 0
	}
	n, err := parse(text)
	if err != nil || !(n > 0) {
		s.errs = append(s.errs, fmt.Errorf("%s is %q, which is not what it may be: more than 0", name, text))
		return 0
	}
	return n
}

func (s *settings) number(name string) int { return positive(s, name, strconv.Atoi) }

func (s *settings) bytes(name string) int64 {
	return positive(s, name, func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) })
}

func (s *settings) fraction(name string) float64 {
	return positive(s, name, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
}

func (s *settings) duration(name string) time.Duration {
	return positive(s, name, time.ParseDuration)
}

// truth reads a variable that may be missing, which is false.
func (s *settings) truth(name string) bool {
	text := s.get(name)
	if text == "" {
		return false
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		s.errs = append(s.errs, fmt.Errorf("%s is %q, not true or false", name, text))
	}
	return b
}

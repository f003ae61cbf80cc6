package settings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Kind defines how values of the type T are written, and which of them are valid.
type Kind[T any] struct {
	want  string // the valid values, in words for messages
	flag  string // want for messages about flags; "" if it is the same
	parse func(text string) (value T, ok bool)
	unit  Size // in bytes, for sizes that are whole numbers of a unit; otherwise 0
}

// asText returns a value as text that the kind of its setting can read. It adds no unit.
func asText(value any) string {
	switch v := value.(type) {
	case []string:
		return strings.Join(v, ",")
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// integer is the kind of whole numbers from least on.
func integer(least int, flag string) *Kind[int] {
	return &Kind[int]{want: "a whole number above " + strconv.Itoa(least-1), flag: flag, parse: func(text string) (int, bool) {
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= least
	}}
}

// integerWithin is the kind of whole numbers from least to most.
func integerWithin(least, most int) *Kind[int] {
	return &Kind[int]{want: within(least, most), parse: func(text string) (int, bool) {
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= least && n <= most
	}}
}

// zeroOr is the kind of 0 and the whole numbers from least to most.
func zeroOr(least, most int) *Kind[int] {
	return &Kind[int]{want: "0, or " + within(least, most), parse: func(text string) (int, bool) {
		n, ok := integerWithin(0, most).parse(text)
		return n, ok && (n == 0 || n >= least)
	}}
}

func within(least, most int) string { return fmt.Sprintf("a whole number from %d to %d", least, most) }

// float is the kind of numbers above 0.
func float() *Kind[float64] {
	return &Kind[float64]{want: "a number above 0", flag: moreThanZero, parse: func(text string) (float64, bool) {
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil && n > 0 && !math.IsInf(n, 1)
	}}
}

// wholeFloat is the kind of floats that are whole numbers from least to most.
func wholeFloat(least, most int) *Kind[float64] {
	return &Kind[float64]{want: within(least, most), parse: func(text string) (float64, bool) {
		n, ok := integerWithin(least, most).parse(text)
		return float64(n), ok
	}}
}

// size is the kind of sizes from least on.
func size(least Size, want string) *Kind[Size] {
	return &Kind[Size]{want: want, parse: func(text string) (s Size, ok bool) {
		err := s.UnmarshalText([]byte(text))
		return s, err == nil && s >= least
	}}
}

// sizeIn is the kind of sizes from 1 to most units.
func sizeIn(unit Size, most int) *Kind[Size] {
	return &Kind[Size]{want: fmt.Sprintf("a whole number of %s from 1 to %d", unit.name(), most), unit: unit, parse: func(text string) (Size, bool) {
		n, ok := integerWithin(1, most).parse(text)
		return Size(n) * unit, ok
	}}
}

// duration is the kind of times from least on.
func duration(least time.Duration, flag string) *Kind[time.Duration] {
	want := "a time above 0, such as 90m"
	if least == 0 {
		want = "a time such as 90m, or 0"
	}
	if least > 1 {
		example := "90m"
		if least > 90*time.Minute {
			example = short(least)
		}
		want = fmt.Sprintf("a time of %s or more, such as %s", short(least), example)
	}
	return &Kind[time.Duration]{want: want, flag: flag, parse: func(text string) (time.Duration, bool) {
		d, err := time.ParseDuration(text)
		return d, err == nil && d >= least
	}}
}

// durationWithin is the kind of times in whole seconds from least to most.
func durationWithin(least, most time.Duration) *Kind[time.Duration] {
	want := fmt.Sprintf("a time in whole seconds from %s to %s, such as 90m", short(least), short(most))
	return &Kind[time.Duration]{want: want, parse: func(text string) (time.Duration, bool) {
		d, err := time.ParseDuration(text)
		return d, err == nil && d >= least && d <= most && d%time.Second == 0
	}}
}

// short writes a time without parts that are 0: 24h, not 24h0m0s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

package order

import (
	"fmt"
	"math"
	"strconv"

	"lipsync/internal/domain/failure"
)

// Factor is the value of an option that is a Number with a Default: the number less that default. So its zero value is the default.
type Factor[K interface{ option() *Option }] float64

func (Factor[K]) usual() float64 {
	var kind K
	n, _ := strconv.ParseFloat(kind.option().Default, 64)
	return n
}

// Factor returns the number.
func (f Factor[K]) Factor() float64 { return thousandths(f.usual() + float64(f)) }

// String returns the number as clients write it.
func (f Factor[K]) String() string { return formatNumber(f.Factor()) }

// MarshalJSON returns the number as clients write it.
func (f Factor[K]) MarshalJSON() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads a number, and rounds it to thousandths. The error of anything else is Invalid, and says what is possible.
func (f *Factor[K]) UnmarshalText(text []byte) error {
	var kind K
	n, err := kind.option().number(text)
	if err == nil {
		*f = Factor[K](thousandths(n) - f.usual())
	}
	return err
}

// thousandths rounds a number, so that it is stored as clients wrote it.
func thousandths(n float64) float64 { return math.Round(n*1000) / 1000 }

// Whole is the value of an option that is an Integer from 1 or more. 0 is its default.
type Whole[K interface{ option() *Option }] int

// String returns the number, and "" for the default.
func (w Whole[K]) String() string {
	if w == 0 {
		return ""
	}
	return strconv.Itoa(int(w))
}

// UnmarshalText reads a number. The error of anything else is Invalid, and says what is possible.
func (w *Whole[K]) UnmarshalText(text []byte) error {
	var kind K
	n, err := kind.option().number(text)
	if err == nil {
		*w = Whole[K](n)
	}
	return err
}

// number parses a number that the option takes.
func (o *Option) number(text []byte) (float64, error) {
	n, err := strconv.ParseFloat(string(text), 64)
	whole := o.Shape != Integer || n == math.Trunc(n) // JSON has no integers: 1e3 is one
	if err == nil && n >= o.Least && n <= o.Most && whole {
		return n, nil
	}
	rule := "a number"
	if o.Shape == Integer {
		rule = "a whole number"
	}
	rule = fmt.Sprintf("%s must be %s from %g to %g", o.Name, rule, o.Least, o.Most)
	for _, name := range o.Names() {
		rule += ", or " + name
	}
	return 0, failure.New(failure.Invalid, rule)
}

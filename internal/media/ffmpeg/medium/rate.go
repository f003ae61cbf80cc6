package medium

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Rate is an exact frame rate, Num ÷ Den frames a second.
type Rate struct{ Num, Den int64 }

// Float returns the frames a second.
func (r Rate) Float() float64 { return float64(r.Num) / float64(r.Den) }

func (r Rate) String() string { return fmt.Sprintf("%d/%d", r.Num, r.Den) }

// ParseRate parses a rate such as "30000/1001". It returns false for anything else: "0/0", text, and
// numbers that are too large.
func ParseRate(s string) (Rate, bool) {
	a, b, _ := strings.Cut(s, "/")
	num, err := strconv.ParseInt(a, 10, 32)
	if err != nil || num <= 0 {
		return Rate{}, false
	}
	den, err := strconv.ParseInt(b, 10, 32)
	if err != nil || den <= 0 {
		return Rate{}, false
	}
	return Rate{num, den}, true
}

// snap returns the standard rate within 0.1 % of r, if there is one, since r may be an inexact average
// of a constant rate. Otherwise it returns r rounded to thousandths, at least 1, and false.
func (r Rate) snap() (best Rate, standard bool) {
	best, distance := Rate{max(1000, int64(math.Round(r.Float()*1000))), 1000}, .001
	for _, n := range []int64{24, 25, 30, 48, 50, 60, 90, 100, 120} {
		for _, s := range []Rate{{n, 1}, {n * 1000, 1001}} {
			if d := math.Abs(s.Float()/r.Float() - 1); d < distance {
				best, distance, standard = s, d, true
			}
		}
	}
	return best, standard
}

// RateOf returns the rate of a number of frames in 1000 s. It is exact for the rates of NTSC: 29970 is
// 30000/1001 frames a second.
func RateOf(frames int64) Rate {
	for _, n := range []int64{24, 30, 48, 60, 120} {
		if r := (Rate{n * 1000, 1001}); int64(math.Round(r.Float()*1000)) == frames {
			return r
		}
	}
	return Rate{frames, 1000}
}

// Frames returns the number of frames that cover the samples, at perSecond samples a second. The last
// frame may end later than the samples.
func (r Rate) Frames(samples, perSecond int64) int {
	num, den := samples*r.Num, perSecond*r.Den
	return int((num + den - 1) / den)
}

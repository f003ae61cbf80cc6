package order

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"lipsync/internal/domain/failure"
)

// Mask says how large the region around a mouth is that is painted, and how wide its soft edge is. Its zero
// value is the default: the size and the edge that the engine has chosen.
type Mask struct {
	Feather MaskFactor `json:"feather,omitzero"` // of the width of the edge
	Expand  MaskFactor `json:"expand,omitzero"`  // of the size of the region
}

// MaskFactor is a factor in thousandths, less 1000. So its zero value is the factor 1.
type MaskFactor int

// The smallest and largest factors of a mask, by eye. A smaller region would cut through lips that are wide open.
// A larger one would reach far beyond the pixels that the engines have of a mouth.
const (
	leastFeather, mostFeather = .25, 2
	leastExpand, mostExpand   = .85, 1.25
)

// Factor returns the factor.
func (f MaskFactor) Factor() float64 { return float64(1000+f) / 1000 }

// String returns the factor as clients write it.
func (f MaskFactor) String() string { return formatNumber(f.Factor()) }

// MarshalJSON returns the factor as clients write it.
func (f MaskFactor) MarshalJSON() ([]byte, error) { return []byte(f.String()), nil }

// String returns both factors, such as 0.5,1.2.
func (m Mask) String() string { return m.Feather.String() + "," + m.Expand.String() }

// UnmarshalText reads what String returns. The error of anything else is Invalid, and says what is possible.
func (m *Mask) UnmarshalText(text []byte) error {
	feather, expand, _ := strings.Cut(string(text), ",")
	wide, err1 := parseFactor(feather, leastFeather, mostFeather)
	large, err2 := parseFactor(expand, leastExpand, mostExpand)
	if err1 != nil || err2 != nil {
		return failure.New(failure.Invalid, fmt.Sprintf("mask must be feather, a number from %g to %g, and expand, a number from %g to %g",
			leastFeather, float64(mostFeather), leastExpand, mostExpand))
	}
	*m = Mask{wide, large}
	return nil
}

// Edge returns the factor of the size of a mask, and the width of its soft edge as a share of the way to its middle.
// usual is that width by default. The part within the edge, which is all of the mouth, grows only by Expand.
func (m Mask) Edge(usual float32) (size, width float32) {
	feather := float32(m.Feather.Factor())
	whole := 1 - usual + usual*feather
	return float32(m.Expand.Factor()) * whole, usual * feather / whole
}

// textOf returns the text of a mask in JSON, and nil for anything else.
func (*Mask) textOf(value json.RawMessage) []byte {
	var fields map[string]*float64
	if json.Unmarshal(value, &fields) != nil {
		return nil
	}
	factors := [2]float64{1, 1}
	for name, factor := range fields {
		switch {
		case name != "feather" && name != "expand":
			return nil
		case factor == nil: // as if it were absent
		case name == "feather":
			factors[0] = *factor
		default:
			factors[1] = *factor
		}
	}
	return []byte(formatNumber(factors[0]) + "," + formatNumber(factors[1]))
}

// parseFactor parses a factor from least to most, and rounds it.
func parseFactor(text string, least, most float64) (MaskFactor, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n >= least && n <= most) {
		return 0, strconv.ErrRange
	}
	return MaskFactor(math.Round(n*1000)) - 1000, nil
}

package settings

import (
	"encoding"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, written as 5GiB, 500MiB or 1048576.
type Size int64

var _ encoding.TextUnmarshaler = (*Size)(nil)

func (s *Size) UnmarshalText(text []byte) error {
	number, factor := string(text), int64(1)
	for suffix, f := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if rest, found := strings.CutSuffix(number, suffix); found {
			number, factor = rest, f
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/factor {
		return fmt.Errorf("%q is not a size such as 5GiB, 500MiB or 1048576", text)
	}
	*s = Size(n * factor)
	return nil
}

// name returns the name of a unit.
func (s Size) name() string {
	if s == gibibyte {
		return "GiB"
	}
	return "MiB"
}

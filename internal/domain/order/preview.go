package order

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
)

// Preview is the part of the video and of the speech track that is rendered as if it were the whole. Its
// zero value means all. Times are rounded to milliseconds.
type Preview struct {
	Start  time.Duration
	Length time.Duration // the media may end before
}

// MostPreview is the latest start and the largest length of a preview.
const MostPreview = 24 * time.Hour

// String returns the start and the length in seconds, such as 90,5.5, and "" for all.
func (p Preview) String() string {
	if p.Length == 0 {
		return ""
	}
	return formatNumber(p.Start.Seconds()) + "," + formatNumber(p.Length.Seconds())
}

// MarshalJSON returns the object that clients write.
func (p Preview) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"start":%s,"seconds":%s}`, formatNumber(p.Start.Seconds()), formatNumber(p.Length.Seconds())), nil
}

// UnmarshalText reads what String returns, except "". The error of anything else is Invalid, and says what
// is possible.
func (p *Preview) UnmarshalText(text []byte) error {
	start, length, _ := strings.Cut(string(text), ",")
	from, err1 := parseSeconds(start, 0)
	most, err2 := parseSeconds(length, .001)
	if err1 != nil || err2 != nil {
		return failure.New(failure.Invalid, fmt.Sprintf("preview must be start and seconds: numbers from 0 to %.0f, seconds at least 0.001", MostPreview.Seconds()))
	}
	*p = Preview{from, most}
	return nil
}

// textOf returns the text of a preview in JSON, and nil for anything else.
func (*Preview) textOf(value json.RawMessage) []byte {
	var fields map[string]*float64
	if json.Unmarshal(value, &fields) != nil || len(fields) != 2 || fields["start"] == nil || fields["seconds"] == nil {
		return nil
	}
	return []byte(formatNumber(*fields["start"]) + "," + formatNumber(*fields["seconds"]))
}

// parseSeconds parses a time in seconds, from least to MostPreview.
func parseSeconds(text string, least float64) (time.Duration, error) {
	s, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(s >= least && s <= MostPreview.Seconds()) {
		return 0, strconv.ErrRange
	}
	return time.Duration(math.Round(s*1000)) * time.Millisecond, nil
}

func formatNumber(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

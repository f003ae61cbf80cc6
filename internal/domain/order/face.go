package order

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"lipsync/internal/domain/failure"
)

// Face chooses the person whose mouth is synced. Its zero value is AutoFace.
type Face struct {
	By FaceChoice

	// If By is FaceAt, the person is the one at a point of a frame.
	Frame int // of the video, from 0
	X, Y  int // pixels of the video as displayed

	Boxes string // if By is FaceInBoxes: the URL of a file with a box for each frame
}

// FaceChoice is the way in which the person is chosen.
type FaceChoice int

// The ways to choose a person.
const (
	AutoFace    FaceChoice = iota // the person who speaks
	FaceAt                        // the person at a point of a frame
	FaceInBoxes                   // in each frame the person in a box
)

// autoFace is the text of AutoFace.
const autoFace = "auto"

// mostFrame and mostPixel are the largest numbers of a Face. No video that the service accepts has more frames or pixels.
const (
	mostFrame = 99_999_999
	mostPixel = 99_999
)

// String returns auto, FRAME,X,Y or the URL of boxes.
func (f Face) String() string {
	switch f.By {
	case FaceAt:
		return fmt.Sprintf("%d,%d,%d", f.Frame, f.X, f.Y)
	case FaceInBoxes:
		return f.Boxes
	default:
		return autoFace
	}
}

// MarshalJSON returns what a client sends.
func (f Face) MarshalJSON() ([]byte, error) {
	switch f.By {
	case FaceAt:
		return fmt.Appendf(nil, `{"frame":%d,"point":[%d,%d]}`, f.Frame, f.X, f.Y), nil
	case FaceInBoxes:
		return []byte(Compact(struct {
			URL string `json:"boxes_url"`
		}{f.Boxes})), nil
	default:
		return json.Marshal(autoFace)
	}
}

// UnmarshalText reads what String returns. The error of anything else is Invalid, and says what is
// possible.
func (f *Face) UnmarshalText(text []byte) error {
	parts := strings.Split(string(text), ",")
	switch {
	case string(text) == autoFace:
		*f = Face{}
		return nil
	case strings.Contains(string(text), "://"):
		if !ValidURL(string(text)) {
			return failure.New(failure.Invalid, URLRule("boxes_url", string(text)))
		}
		*f = Face{By: FaceInBoxes, Boxes: string(text)}
		return nil
	case len(parts) == 3:
		frame, err1 := parseWhole(parts[0], mostFrame)
		x, err2 := parseWhole(parts[1], mostPixel)
		y, err3 := parseWhole(parts[2], mostPixel)
		if err1 == nil && err2 == nil && err3 == nil {
			*f = Face{By: FaceAt, Frame: frame, X: x, Y: y}
			return nil
		}
	}
	return failure.New(failure.Invalid, `face must be auto, {"id"}, {"frame", "point": [x, y]} with numbers from 0, or {"boxes_url"}`)
}

// textOf returns the text of a face in JSON, and nil for anything else. The id of an AnalyzedFace is
// such a text.
func (*Face) textOf(value json.RawMessage) []byte {
	var name string
	if json.Unmarshal(value, &name) == nil {
		if name == autoFace {
			return []byte(name)
		}
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil {
		return nil
	}
	var frame *float64
	var point []*float64
	var boxes, id string
	switch {
	case len(fields) == 1 && json.Unmarshal(fields["id"], &id) == nil && strings.Count(id, ",") == 2 && !strings.Contains(id, "://"):
		return []byte(id)
	case len(fields) == 1 && json.Unmarshal(fields["boxes_url"], &boxes) == nil && strings.Contains(boxes, "://"):
		return []byte(boxes)
	case len(fields) == 2 && json.Unmarshal(fields["frame"], &frame) == nil && frame != nil &&
		json.Unmarshal(fields["point"], &point) == nil && len(point) == 2 && point[0] != nil && point[1] != nil:
		return []byte(formatNumber(*frame) + "," + formatNumber(*point[0]) + "," + formatNumber(*point[1]))
	default:
		return nil
	}
}

// parseWhole parses a number from 0 to most, and rounds it.
func parseWhole(text string, most float64) (int, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n >= 0 && n <= most) {
		return 0, strconv.ErrRange
	}
	return int(math.Round(n)), nil
}

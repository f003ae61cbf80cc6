package medium

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sideData is what ffprobe tells beside the pictures of a stream, or beside one frame. An entry has the fields of one kind only.
type sideData struct {
	Rotation float64 `json:"rotation"`      // degrees by which the pictures are to be turned, counterclockwise
	Display  string  `json:"displaymatrix"` // of 3 rows, each after a number and a colon; it tells also whether they are mirrored

	// The display on which the video was mastered (SMPTE ST 2086): ratios of chromaticities by CIE 1931, and of luminances in cd/m².
	RedX   string `json:"red_x"`
	RedY   string `json:"red_y"`
	GreenX string `json:"green_x"`
	GreenY string `json:"green_y"`
	BlueX  string `json:"blue_x"`
	BlueY  string `json:"blue_y"`
	WhiteX string `json:"white_point_x"`
	WhiteY string `json:"white_point_y"`
	Least  string `json:"min_luminance"`
	Most   string `json:"max_luminance"`

	// The light of the video in cd/m² (CTA-861.3): of its brightest pixel, and of its brightest frame on average.
	MaxContent int64 `json:"max_content"`
	MaxAverage int64 `json:"max_average"`
}

// sideFields lists the fields of sideData as ffprobe's option -show_entries takes them.
const sideFields = "rotation,displaymatrix,red_x,red_y,green_x,green_y,blue_x,blue_y,white_point_x,white_point_y,min_luminance,max_luminance,max_content,max_average"

// mastering describes the light of a video of high dynamic range.
type mastering struct {
	display string // as x265's option master-display takes it; "" if the file tells none
	light   string // as x265's option max-cll takes it; "" if the file tells none

	brightest float64 // cd/m² of the brightest pixel, or else the most that the display can show; 0 if the file tells none
}

// mastering returns what the file tells of a stream, or else the first of its frames that tells it.
func (r *report) mastering(s stream) mastering {
	all := s.SideData
	for _, f := range r.Read {
		if f.Type == "frame" && f.Stream == s.Index {
			all = append(all, f.SideData...)
		}
	}
	var m mastering
	var shown, content float64
	for _, d := range all {
		if m.display == "" {
			if m.display = d.display(); m.display != "" {
				most, _ := inUnits(d.Most, 1)
				shown = float64(most)
			}
		}
		if m.light == "" {
			if m.light = d.light(); m.light != "" {
				content = float64(d.MaxContent)
			}
		}
	}
	m.brightest = cmp.Or(content, shown)
	return m
}

// display returns the display, "" if it lacks a value or has an impossible one.
func (d sideData) display() string {
	const parts, brightest = 50_000, 100_000_000 // units of a chromaticity; the most light of PQ, in units of .0001 cd/m²
	var b strings.Builder
	for _, c := range []struct{ name, x, y string }{{"G", d.GreenX, d.GreenY}, {"B", d.BlueX, d.BlueY}, {"R", d.RedX, d.RedY}, {"WP", d.WhiteX, d.WhiteY}} {
		x, ok1 := inUnits(c.x, parts)
		y, ok2 := inUnits(c.y, parts)
		if !ok1 || !ok2 || y == 0 || x+y > parts {
			return ""
		}
		fmt.Fprintf(&b, "%s(%d,%d)", c.name, x, y)
	}
	least, ok1 := inUnits(d.Least, 10_000)
	most, ok2 := inUnits(d.Most, 10_000)
	if !ok1 || !ok2 || least >= most || most > brightest {
		return ""
	}
	fmt.Fprintf(&b, "L(%d,%d)", most, least)
	return b.String()
}

// light returns the light, "" if it is unknown or impossible.
func (d sideData) light() string {
	known := func(n int64) bool { return n >= 0 && n <= math.MaxUint16 } // the field of HEVC has 16 bits, and 0 stands for unknown
	if !known(d.MaxContent) || !known(d.MaxAverage) || d.MaxContent+d.MaxAverage == 0 {
		return ""
	}
	return fmt.Sprintf("%d,%d", d.MaxContent, d.MaxAverage)
}

// inUnits returns a ratio such as "34000/50000" as a number of units, rounded. one is the number of units in 1. ok is false for
// anything but a ratio of whole numbers that isn't negative.
func inUnits(ratio string, one float64) (n int64, ok bool) {
	a, b, _ := strings.Cut(ratio, "/")
	num, err1 := strconv.ParseUint(a, 10, 31)
	den, err2 := strconv.ParseUint(b, 10, 31)
	if err1 != nil || err2 != nil || den == 0 {
		return 0, false
	}
	return int64(math.Round(float64(num) / float64(den) * one)), true
}

// MasteringParams returns x265's parameters that keep the mastering of the frames in v.Pixels. Only PQ has one: HLG is relative to the
// display.
func (v *Video) MasteringParams() string {
	params := ""
	if v.Transfer() == PQ && v.mastering.display != "" {
		params += ":master-display=" + v.mastering.display
	}
	if v.Transfer() == PQ && v.mastering.light != "" {
		params += ":max-cll=" + v.mastering.light
	}
	return params
}

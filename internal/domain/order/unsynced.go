package order

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Cause says why no mouth is synced. Causes are stored, so they never change.
type Cause string

// The causes.
const (
	NoFaceSeen   Cause = "no_face"
	FaceTooSmall Cause = "too_small"
	TurnedAway   Cause = "turned_away"
	MouthHidden  Cause = "hidden"
	OutOfPicture Cause = "out_of_picture"
	OtherPerson  Cause = "other_person"
)

var causeTexts = map[Cause]string{
	NoFaceSeen:   "no face is seen",
	FaceTooSmall: "the face is too small",
	TurnedAway:   "the face is turned away or covered",
	MouthHidden:  "something is in front of the mouth",
	OutOfPicture: "the face is partly out of the picture",
	OtherPerson:  "the person to sync is not seen, but others are",
}

// Gap is a part of an output in which no mouth is synced.
type Gap struct {
	Start  float64 `json:"start"` // seconds, as End
	End    float64 `json:"end"`
	Reason Cause   `json:"reason"`
}

// Unsynced has the gaps of an output, except where its client asked for none, in their order: at most mostGaps, the longest.
type Unsynced struct {
	Gaps    []Gap `json:"gaps,omitempty"`
	LeftOut int   `json:"left_out,omitempty"` // number of further gaps
}

const (
	mostGaps = 50
	// oneGap is the largest distance of gaps with one cause that count as one, in seconds. Of gaps that touch, one that is shorter counts as a part of the other.
	oneGap = .5
)

// joins tells whether the next gap counts as a part of the same.
func (g Gap) joins(next Gap) bool {
	return g.Reason == next.Reason && next.Start-g.End <= oneGap || g.End == next.Start && min(g.length(), next.length()) < oneGap
}

func (g Gap) length() float64 { return g.End - g.Start }

// NewUnsynced returns what is told of gaps.
func NewUnsynced(gaps []Gap) (u Unsynced) {
	for _, g := range gaps {
		n := len(u.Gaps) - 1
		if n < 0 || !u.Gaps[n].joins(g) {
			u.Gaps = append(u.Gaps, g)
			continue
		}
		if g.length() > u.Gaps[n].length() {
			u.Gaps[n].Reason = g.Reason
		}
		u.Gaps[n].End = g.End
	}
	if u.LeftOut = max(0, len(u.Gaps)-mostGaps); u.LeftOut > 0 {
		slices.SortStableFunc(u.Gaps, func(a, b Gap) int { return cmp.Compare(b.length(), a.length()) })
		u.Gaps = slices.Clone(u.Gaps[:mostGaps])
		slices.SortFunc(u.Gaps, func(a, b Gap) int { return cmp.Compare(a.Start, b.Start) })
	}
	return u
}

// Text returns the gaps as JSON, as they are stored, and "" for none.
func (u Unsynced) Text() string {
	if u.Gaps == nil {
		return ""
	}
	text, _ := json.Marshal(u)
	return string(text)
}

// ParseUnsynced is the inverse of Unsynced.Text.
func ParseUnsynced(text string) (u Unsynced, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &u)
	}
	if err != nil {
		return Unsynced{}, fmt.Errorf("unsynced %q: %w", text, err)
	}
	return u, nil
}

// Says returns the gap and its reason in words.
func (g Gap) Says() string {
	why := causeTexts[g.Reason]
	if why == "" { // a newer version's
		why = string(g.Reason)
	}
	return fmt.Sprintf("%.1f–%.1f s, %s", g.Start, g.End, why)
}

// Says returns a sentence about the first gaps, and "" if there are none.
func (u Unsynced) Says() string {
	var parts []string
	for _, g := range u.Gaps[:min(len(u.Gaps), mostSaid)] {
		parts = append(parts, g.Says())
	}
	if parts == nil {
		return ""
	}
	text := "Not synced: " + strings.Join(parts, "; ")
	if more := len(u.Gaps) - len(parts) + u.LeftOut; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text + "."
}

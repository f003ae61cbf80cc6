package order

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// SyncScore says how well the mouths of an output follow its speech, as measured from its pixels. It is zero if nobody speaks.
type SyncScore struct {
	// Known tells whether Confidence and Offset are known: they aren't if the output has too few synced frames.
	Known bool `json:"known,omitempty"`
	// Confidence is the probability that a speech which has nothing to do with the mouths would agree less with them: from 0 to 1, in
	// thousandths. It tells a wrong speech track from the right one, and nothing about how good the lips are.
	Confidence float64 `json:"confidence"`
	// Offset is the number of frames by which the mouths come after the speech. It means nothing if Confidence is below Synced.
	Offset int `json:"offset"`

	Closures Part `json:"closures,omitzero"` // the heard m, b and p; good if the lips touch
	Vowels   Part `json:"vowels,omitzero"`   // the heard open vowels; good if the lips part
	Spoken   Part `json:"spoken,omitzero"`   // frames in which a face is seen while somebody speaks; good if a mouth was painted

	Curve Curve `json:"curve,omitempty"` // the score of each moment; "" if no score is known
}

// Part is a part of a SyncScore. It is zero if it isn't known: nothing of its kind was heard and measured.
type Part struct {
	All    int       `json:"all"`
	Good   int       `json:"good"`
	Missed []float64 `json:"missed,omitempty"` // times in the output of the first MostMissed sounds that are not good, in seconds, to a tenth
}

// MostMissed bounds Part.Missed.
const MostMissed = 20

// Miss counts one that is not good, at a time in seconds.
func (p *Part) Miss(at float64) {
	p.All++
	if len(p.Missed) < MostMissed {
		p.Missed = append(p.Missed, math.Round(at*10)/10)
	}
}

// Score returns the worst of the shares of what is good, in thousandths, and whether one is known.
func (s SyncScore) Score() (worst float64, known bool) {
	worst = 1
	for _, p := range []Part{s.Closures, s.Vowels, s.Spoken} {
		if p.All > 0 {
			worst, known = min(worst, float64(1000*p.Good/p.All)/1000), true
		}
	}
	return worst, known
}

// IsZero tells whether nothing is known.
func (s SyncScore) IsZero() bool {
	_, known := s.Score()
	return !known && !s.Known
}

// Text returns the score as JSON, as it is stored. It returns "" if nothing is known.
func (s SyncScore) Text() string {
	if s.IsZero() {
		return ""
	}
	text, _ := json.Marshal(s)
	return string(text)
}

// ParseSyncScore is the inverse of SyncScore.Text.
func ParseSyncScore(text string) (SyncScore, error) {
	if text == "" {
		return SyncScore{}, nil
	}
	var s SyncScore
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return SyncScore{}, fmt.Errorf("sync score %q: %w", text, err)
	}
	return s, nil
}

// Synced is the least Confidence of mouths that move with the speech. By its definition one of twenty speeches that have
// nothing to do with the mouths reaches it; TestSyncScore_long of engines counts how many do.
const Synced = .95

// InSync reports whether the mouths move with the speech, and at the same time.
func (s SyncScore) InSync() bool {
	return s.Known && s.Confidence >= Synced && s.Offset >= -1 && s.Offset <= 1
}

// Says returns sentences about the score: which sounds the lips miss and when, and whether another speech seems to belong to them.
func (s SyncScore) Says() string {
	var faults []string
	switch {
	case !s.Known || s.InSync():
	case s.Confidence < Synced:
		faults = append(faults, "It is not sure that the lips move with this speech.")
	case s.Offset > 0:
		faults = append(faults, fmt.Sprintf("The lips come %d frames after the speech.", s.Offset))
	default:
		faults = append(faults, fmt.Sprintf("The lips come %d frames before the speech.", -s.Offset))
	}
	if p := s.Closures; p.Good < p.All {
		faults = append(faults, fmt.Sprintf("Lips miss %d of %d closures: %s.", p.All-p.Good, p.All, p.times()))
	}
	if p := s.Vowels; p.Good < p.All {
		faults = append(faults, fmt.Sprintf("Lips stay shut in %d of %d open vowels: %s.", p.All-p.Good, p.All, p.times()))
	}
	if p := s.Spoken; p.Good < p.All {
		faults = append(faults, fmt.Sprintf("%d of %d frames with speech stay as in the video.", p.All-p.Good, p.All))
	}
	if len(faults) > 0 {
		return strings.Join(faults, " ")
	}
	var good []string
	if n := s.Closures.All; n > 0 {
		good = append(good, fmt.Sprintf("%d of %d closures close", n, n))
	}
	if s.Vowels.All > 0 {
		good = append(good, "no vowel is held shut")
	}
	if len(good) == 0 {
		return "The lips move with the speech."
	}
	return "Lips follow: " + strings.Join(good, ", ") + "."
}

// mostSaid is the number of times in a sentence, at most.
const mostSaid = 5

// times returns when the first sounds are missed, in words.
func (p Part) times() string {
	said := p.Missed[:min(len(p.Missed), mostSaid)]
	words := make([]string, len(said))
	for i, at := range said {
		words[i] = fmt.Sprintf("%.1f", at)
	}
	text := "seconds " + strings.Join(words, ", ")
	if len(said) == 1 {
		text = "second " + words[0]
	}
	if more := p.All - p.Good - len(said); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

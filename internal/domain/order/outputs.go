package order

import (
	"encoding/json"
	"fmt"
	"strings"

	"lipsync/internal/domain/failure"
)

// Frames counts the frames of an output.
type Frames struct {
	Total  int
	Synced int // in which at least one mouth was painted
}

// Kept returns the number of frames that are as in the video.
func (f Frames) Kept() int { return f.Total - f.Synced }

// SyncScore says how well the mouths of an output move with its speech, as measured from its pixels. It is zero if it isn't known:
// the output has too few synced frames, or nobody speaks.
type SyncScore struct {
	Known bool `json:"-"`
	// Confidence is the probability that a speech which has nothing to do with the mouths would agree less with them: from 0 to 1, in thousandths.
	Confidence float64 `json:"confidence"`
	// Offset is the number of frames by which the mouths come after the speech. It means nothing if Confidence is below Synced.
	Offset int `json:"offset"`
}

// Text returns the score as JSON, as it is stored. It returns "" if the score isn't known.
func (s SyncScore) Text() string {
	if !s.Known {
		return ""
	}
	return fmt.Sprintf(`{"confidence":%g,"offset":%d}`, s.Confidence, s.Offset)
}

// ParseSyncScore is the inverse of SyncScore.Text.
func ParseSyncScore(text string) (SyncScore, error) {
	if text == "" {
		return SyncScore{}, nil
	}
	s := SyncScore{Known: true}
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

// Warnings holds the codes of facts about an output that its client should know, with spaces between. All except Signed are warnings.
// Codes are stored, so they never change.
type Warnings string

// The warnings.
const (
	ConvertedHDR    Warnings = "converted_hdr"     // the video has a high dynamic range, the output a standard one
	LostAlpha       Warnings = "lost_alpha"        // the video has alpha, the output doesn't
	NoOriginalSound Warnings = "no_original_sound" // the client asked for the video's own sound, but it has none, or one that can't be decoded
	NotSigned       Warnings = "not_signed"        // the service signs outputs, but not this one
	Signed          Warnings = "signed"            // the output has a signed manifest of C2PA; this has no text
)

var warningTexts = map[Warnings]string{
	ConvertedHDR:    "HDR input was converted to SDR",
	LostAlpha:       "transparency was lost: it is kept by codec prores, and by codec vp9 in format webm",
	NoOriginalSound: "video has no usable sound",
	NotSigned:       "output has no signed provenance: only mp4 and mov of at most " + failure.Spell(MostSigned) + " can have it, or the signing failed",
}

// With returns the warnings and one more.
func (w Warnings) With(more Warnings) Warnings {
	return Warnings(strings.TrimSpace(string(w) + " " + string(more)))
}

// Texts returns a sentence for clients for each warning, except those of a newer version.
func (w Warnings) Texts() []string {
	texts := []string{}
	for _, code := range strings.Fields(string(w)) {
		if text := warningTexts[Warnings(code)]; text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

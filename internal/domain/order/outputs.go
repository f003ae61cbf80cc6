package order

import (
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

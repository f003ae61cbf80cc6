package order

import (
	"fmt"
	"net/url"
	"strconv"
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
	NobodySpeaks    Warnings = "nobody_speaks"     // in the speech
	QuietSpeech     Warnings = "quiet_speech"      // the speech is far quieter than usual
	LoudSpeech      Warnings = "loud_speech"       // the speech is far louder than usual, so that most of it may be clipped
	DroppedSound    Warnings = "dropped_sound"     // the video has sound that is not heard in the output
	SegmentIsCut    Warnings = "segment_is_cut"    // a segment ends after the video
	NotSigned       Warnings = "not_signed"        // the service signs outputs, but not this one
	Signed          Warnings = "signed"            // the output has a signed manifest of C2PA; this has no text
)

var warningTexts = map[Warnings]string{
	ConvertedHDR:    "HDR input was converted to SDR",
	LostAlpha:       "transparency was lost: it is kept by codec prores, and by codec vp9 in format webm",
	NoOriginalSound: "video has no usable sound",
	NobodySpeaks:    "nobody speaks in the audio",
	QuietSpeech:     "audio is far quieter than speech usually is",
	LoudSpeech:      "audio is far louder than speech usually is",
	DroppedSound:    "the video's own sound is not heard: option original_gain adds it",
	SegmentIsCut:    "a segment ends after the video, so the rest of it is not heard",
	NotSigned:       "output has no signed provenance: only mp4 and mov of at most " + failure.Spell(MostSigned) + " can have it, or the signing failed",
}

// The begins of the warnings that name the track that was taken, of several: a number follows. After ignoredField follows a name, as a query
// has it.
const (
	tookAudio    = "took_audio_track_"
	tookVideo    = "took_video_track_"
	ignoredField = "ignored_field_"
)

// IgnoredFields returns the warnings that fields of a call were ignored.
func IgnoredFields(names []string) (all Warnings) {
	for _, name := range names {
		all = all.With(Warnings(ignoredField + url.QueryEscape(name)))
	}
	return all
}

// TookAudio returns the warning that the sound track with a number was taken, of several.
func TookAudio(track int) Warnings { return Warnings(tookAudio + strconv.Itoa(track)) }

// TookVideo returns the warning that the track of pictures with a number was taken, of several.
func TookVideo(track int) Warnings { return Warnings(tookVideo + strconv.Itoa(track)) }

// With returns the warnings and one more.
func (w Warnings) With(more Warnings) Warnings {
	return Warnings(strings.TrimSpace(string(w) + " " + string(more)))
}

// Texts returns a sentence for clients for each warning, except those of a newer version.
func (w Warnings) Texts() []string {
	texts := []string{}
	for _, code := range strings.Fields(string(w)) {
		text := warningTexts[Warnings(code)]
		if track, ok := strings.CutPrefix(code, tookAudio); ok {
			text = "audio has several sound tracks: track " + track + " was taken"
		} else if track, ok := strings.CutPrefix(code, tookVideo); ok {
			text = "video has several tracks of pictures: track " + track + " was taken"
		} else if escaped, ok := strings.CutPrefix(code, ignoredField); ok {
			name, _ := url.QueryUnescape(escaped)
			text = fmt.Sprintf("field %q of the request was ignored", name)
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

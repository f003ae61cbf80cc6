package dashboard

import (
	"cmp"
	"net/url"

	"lipsync/internal/lipsync"
)

// option is a field of lipsync.Options, as the form for a new request offers it and the page of a
// request shows it.
type option struct {
	Name, Label string
	Choices     []choice // none if the value is a number or a text
	Most        int      // the largest number; 0 for a text
	Value       string   // name of the chosen value, or the number or text
}

// choice is a value of an option.
type choice struct{ Value, Text string }

// optionsOf returns all options, with the values that o has.
func optionsOf(o lipsync.Options) []option {
	return []option{
		{"sync_mode", "Length", []choice{
			{"bounce", "As the audio, forward and backward"},
			{"loop", "As the audio, from the start again"},
			{"remap", "As the audio, faster or slower"},
			{"cut_off", "As the shorter of the two"},
			{"silence", "As the longer of the two"},
		}, 0, o.SyncMode.String()},
		{"silence", "While nobody speaks", []choice{
			{"rest", "The mouth rests"}, {"keep", "The mouth stays as in the video"},
		}, 0, o.Silence.String()},
		{"no_face", "Frames without a face", []choice{
			{"keep", "They stay as they are"}, {"fail", "The request fails"},
		}, 0, o.NoFace.String()},
		{"voice_gain", "Gain of the audio", nil, lipsync.MostGain, o.VoiceGain.String()},
		{"original_gain", "Gain of the video’s own sound", nil, lipsync.MostGain, o.OriginalGain.String()},
		{"duck", "The video’s own sound under the audio", []choice{
			{"false", "As loud as elsewhere"}, {"true", "Lowered"},
		}, 0, o.Duck.String()},
		{"preview", "Preview: start, seconds", nil, 0, o.Preview.String()},
	}
}

// Text returns the text of the value, for people.
func (o option) Text() string {
	for _, c := range o.Choices {
		if c.Value == o.Value {
			return c.Text
		}
	}
	return cmp.Or(o.Value, "–")
}

// readOptions reads the options of a form. A field that was not sent, or is empty, has its default. If
// several can't be used, the error is that of the first, and the others are read nevertheless.
func readOptions(form url.Values, o *lipsync.Options) (first error) {
	for _, option := range optionsOf(lipsync.Options{}) {
		if value := form.Get(option.Name); value != "" {
			first = cmp.Or(first, o.Set(option.Name, value))
		}
	}
	return first
}

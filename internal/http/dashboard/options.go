package dashboard

import (
	"cmp"
	"net/url"
	"slices"

	"lipsync/internal/domain/lipsync"
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
		{"face", "Face: auto; frame, x, y; or URL of boxes", nil, 0, o.Face.String()},
		{"mask", "Mask: width of the edge, size", nil, 0, o.Mask.String()},
	}
}

// outputOf returns all fields of an output, with the values that o has.
func outputOf(o lipsync.Output) []option {
	return []option{
		{"format", "Format", []choice{{"mp4", "MP4"}, {"mov", "MOV"}, {"webm", "WebM"}}, 0, o.Format.String()},
		{"codec", "Codec", []choice{
			{"", "That of the format"}, {"h264", "H.264"}, {"hevc", "HEVC"}, {"vp9", "VP9"}, {"prores", "ProRes"},
		}, 0, o.Codec.String()},
		{"quality", "Quality", []choice{{"high", "High"}, {"medium", "Medium"}, {"low", "Low"}}, 0, o.Quality.String()},
		{"fps", "Frames a second", nil, 0, o.FPS.String()},
		{"width", "Width in pixels", nil, 0, o.Width.String()},
		{"file_name", "File name", nil, 0, string(o.FileName)},
		{"upload_url", "Also send it to (PUT)", nil, 0, string(o.UploadURL)},
	}
}

// changed returns the fields of an output that differ from the defaults, as the page of a request shows them.
func changed(o lipsync.Output) []option {
	o.UploadURL = o.UploadURL.Origin()
	return without(outputOf(lipsync.Output{}), outputOf(o))
}

// without returns the fields that differ from the defaults.
func without(defaults, fields []option) []option {
	return slices.DeleteFunc(fields, func(field option) bool {
		return slices.ContainsFunc(defaults, func(d option) bool { return d.Name == field.Name && d.Value == field.Value })
	})
}

// Whole reports whether the option is one of a whole request without segments. A segment can have some of these of its own.
func (o option) Whole() bool {
	return slices.Contains([]string{"sync_mode", "silence", "voice_gain", "original_gain", "duck", "face"}, o.Name)
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

// readOptions reads the options and the output of a form. A field that was not sent, or is empty, has its default. If
// several can't be used, the error is that of the first, and the others are read nevertheless.
func readOptions(form url.Values, o *lipsync.Options) (first error) {
	for _, option := range optionsOf(lipsync.Options{}) {
		if value := form.Get(option.Name); value != "" {
			first = cmp.Or(first, o.Set(option.Name, value))
		}
	}
	for _, field := range outputOf(lipsync.Output{}) {
		if value := form.Get(field.Name); value != "" {
			first = cmp.Or(first, o.Output.Set(field.Name, value))
		}
	}
	return first
}

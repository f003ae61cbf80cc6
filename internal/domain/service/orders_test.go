package service_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/test/check"
)

// TestOutputNames stores an output of each format, and reads under which key, and under which name clients
// download it.
func TestOutputNames(t *testing.T) {
	for _, c := range []struct {
		output    order.Output
		key, name string // name "" is the request's id
	}{
		{order.Output{}, "1.mp4", ""},
		{order.Output{Format: order.MOV}, "1.mov", ""},
		{order.Output{Format: order.WebM, FileName: "my.talk"}, "1.webm", "my.talk.webm"},
		{order.Output{Format: order.WebM, FileName: "talk.MP4"}, "1.webm", "talk.webm"},
		{order.Output{FileName: "talk.mp4"}, "1.mp4", "talk.mp4"},
	} {
		f := newFixture(t)
		r := f.claimed(t, c.output)
		check.Must(t, f.Complete(t.Context(), r, strings.NewReader("output"), 6))
		r, u, err := f.Request(t.Context(), f.caller, r.ID)
		check.Must(t, err)
		check.Want(t, "key", r.Output, "outputs/"+r.ID+"/"+c.key)
		name := c.name
		if name == "" {
			name = r.ID + c.output.Extension()
		}
		check.Want(t, "name", u.Query().Get("name"), name)
	}
}

// TestTracks makes requests with several speech tracks, and refuses those that don't fit the segments.
func TestTracks(t *testing.T) {
	f := newFixture(t)
	c := f.caller
	web := func(ref, url string) requests.Track {
		return requests.Track{Ref: ref, Source: requests.Source{URL: url}}
	}
	params := func(segments string, tracks ...requests.Track) requests.Params {
		p := requests.Params{Video: requests.Source{URL: "https://a.example/v"}, Audios: tracks}
		if segments != "" {
			check.Must(t, json.Unmarshal([]byte(segments), &p.Segments))
		}
		return p
	}
	const two = `[{"start":0,"end":1,"audio":{"ref":"ana"}},{"start":1,"end":2}]`
	ana, plain := web("ana", "https://a.example/ana"), web("", "https://b.example/")
	id, err := f.Generate(t.Context(), c, params(two, ana, plain))
	check.Must(t, err)
	r, err := f.Details(t.Context(), c, id)
	check.Must(t, err)
	check.Want(t, "tracks", r.Tracks.Text(), `[{"ref":"ana"},{"url":"https://b.example/"}]`)
	check.Want(t, "audios", reflect.DeepEqual(r.Audios(), []lipsync.NamedInput{{Ref: "ana", Input: lipsync.Input{URL: ana.URL}}, {Input: lipsync.Input{URL: plain.URL}}}), true)
	check.Want(t, "inputs", len(r.Inputs()), 3)
	id, err = f.Generate(t.Context(), c, params(`[{"start":0,"end":1}]`, plain))
	check.Must(t, err)
	r, err = f.Details(t.Context(), c, id)
	check.Must(t, err)
	check.Want(t, "one track", r.Tracks, nil)

	many := []requests.Track{ana}
	for range lipsync.MostTracks {
		many = append(many, plain)
	}
	largest := params(`[{"start":0,"end":1}]`, plain)
	largest.LargestFace = true
	options := params(`[{"start":0,"end":1}]`, plain)
	options.Options.SyncMode = order.Loop
	preview := params(`[{"start":0,"end":1},{"start":3,"end":4}]`, plain)
	preview.Options.Preview = order.Preview{Start: time.Second, Length: 2 * time.Second}
	for sentence, p := range map[string]requests.Params{
		"audios with ref need segments":                                                                    params("", ana),
		"segments can't be used with disable_active_speaker_detection":                                     largest,
		"there can be at most 10 audios":                                                                   params(two, many...),
		"ref of an audio must be 1 to 255 characters":                                                      params(two, web(strings.Repeat("x", 256), "https://a.example/")),
		`two audios have the ref "ana"`:                                                                    params(two, ana, plain, ana),
		"no segment has the audio without ref":                                                             params(`[{"start":0,"end":1,"audio":{"ref":"ana"}}]`, ana, plain),
		`no segment has the audio "ben"`:                                                                   params(two, ana, plain, web("ben", "https://a.example/")),
		`segment has an audio without ref; there is: "ana"`:                                                params(two, ana),
		`segment has the audio "ana"; there is: one without ref`:                                           params(two, plain),
		"no segment is in the preview":                                                                     preview,
		order.Segments{{}}.Check(options.Options).Error():                                                  options,
		"audio URL must be an absolute http or https URL with a host, no user name and at most 8192 bytes": params(two, ana, web("", "ftp://x")),
	} {
		_, err := f.Generate(t.Context(), c, p)
		check.Error(t, sentence, err, failure.Invalid, sentence)
	}
}

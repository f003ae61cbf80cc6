package lipsync_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
)

// TestSegments reads segments as a client sends them, in any order, and refuses others.
func TestSegments(t *testing.T) {
	var got lipsync.Segments
	must(t, json.Unmarshal([]byte(`[{"start":2.5,"end":4,"audio":{"ref":"anna","start":1,"end":1.5},"options":{"face":{"frame":60,"point":[10,20]},"voice_gain":2}},
		{"end":2.5,"start":0.0004,"options":{"silence":"keep","original_gain":0.5,"face":null}},{"start":4,"end":4.001,"audio":{"ref":"ben"}}]`), &got))
	want(t, "segments", reflect.DeepEqual(got, lipsync.Segments{
		{End: 2500 * time.Millisecond, Options: lipsync.Options{Silence: lipsync.KeepSilent, OriginalGain: .5}},
		{Start: 2500 * time.Millisecond, End: 4 * time.Second, Ref: "anna", From: time.Second, To: 1500 * time.Millisecond,
			Options: lipsync.Options{Face: lipsync.Face{By: lipsync.FaceAt, Frame: 60, X: 10, Y: 20}, VoiceGain: 1}},
		{Start: 4 * time.Second, End: 4001 * time.Millisecond, Ref: "ben"},
	}), true)
	want(t, "audios", reflect.DeepEqual(got.Refs(), []string{"", "anna", "ben"}), true)
	_, some := got.Unknown([]string{"ben", "anna", "", "carl"})
	want(t, "unknown audio", some, false)
	ref, unknown := got.Unknown([]string{"anna", ""})
	want(t, "unknown audio", unknown && ref == "ben", true)
	must(t, got.Check(lipsync.Options{NoFace: lipsync.FailFaceless, Output: lipsync.Output{Width: 320}}))
	wantError(t, "other options", got.Check(lipsync.Options{SyncMode: lipsync.Loop}), lipsync.Invalid,
		"with segments the options of the whole request can be: no_face, preview, mask; each segment can have: silence, voice_gain, original_gain, face")
	must(t, lipsync.Segments(nil).Check(lipsync.Options{SyncMode: lipsync.Loop}))

	const list, span = "segments must be a list of 1 to 100 segments", "start and end of a segment must be numbers from 0 to 86400, the end after the start"
	const audio = "audio of a segment can have: ref, and both start and end, the end after the start"
	for text, sentence := range map[string]string{
		`{}`: list, `[]`: list, `null`: list, "[" + strings.Repeat("1,", 100) + "1]": list,
		`[1]`:                                                 "segment must be an object",
		`[{"start":1}]`:                                       span,
		`[{"start":1,"end":1}]`:                               span,
		`[{"start":1,"end":1.0001}]`:                          span,
		`[{"start":-1,"end":1}]`:                              span,
		`[{"start":"0","end":1}]`:                             span,
		`[{"start":0,"end":86401}]`:                           span,
		`[{"start":0,"end":1,"stop":2}]`:                      `segment has no field "stop"; it has: start, end, audio, options`,
		`[{"start":2,"end":3},{"start":0,"end":2.5}]`:         "segments must not overlap: one ends at 2.5 seconds, the next begins at 2",
		`[{"start":0,"end":1,"audio":"a"}]`:                   "audio of a segment must be an object",
		`[{"start":0,"end":1,"audio":{"ref":""}}]`:            "ref of a segment's audio must be the name of an audio",
		`[{"start":0,"end":1,"audio":{"start":1}}]`:           audio,
		`[{"start":0,"end":1,"audio":{"start":1,"end":.5}}]`:  "segments must be a list of 1 to 100 segments", // no JSON
		`[{"start":0,"end":1,"audio":{"start":1,"end":0.5}}]`: audio,
		`[{"start":0,"end":1,"audio":{"Start":1,"end":2}}]`:   audio,
		`[{"start":0,"end":1,"options":{"duck":true}}]`:       "options of a segment can be: silence, voice_gain, original_gain, face",
		`[{"start":0,"end":1,"options":{"face":{"boxes_url":"https://a.example"}}}]`: "face of a segment must be auto, id, or frame and point",
		`[{"start":0,"end":1,"options":{"silence":"no"}}]`:                           "silence must be one of: rest, keep",
	} {
		_, err := lipsync.ParseSegments([]byte(text))
		wantError(t, text, err, lipsync.Invalid, sentence)
	}
}

// TestStoredSegments stores segments with the options, and reads them back.
func TestStoredSegments(t *testing.T) {
	var got lipsync.Segments
	must(t, json.Unmarshal([]byte(` [ {"start":1.50,"end":2,"audio":{"ref":"a<b","start":0,"end":0.25},"options":{"face":{"id":"1,2,3"},"silence":null}},
		{"start":0,"end":1,"audio":{},"options":{}}, {"start":3e0,"end":4,"audio":{"ref":"ü"}}]`), &got))
	text, err := json.Marshal(got)
	must(t, err)
	want(t, "list", string(text), `[{"start":0,"end":1},{"start":1.5,"end":2,"audio":{"ref":"a\u003cb","start":0,"end":0.25},"options":{"face":{"frame":1,"point":[2,3]}}},{"start":3,"end":4,"audio":{"ref":"ü"}}]`)
	o := lipsync.Options{NoFace: lipsync.FailFaceless, Segments: got}
	again, err := lipsync.ParseOptions(o.Text())
	must(t, err)
	want(t, "stored", again, o)
	want(t, "segments", len(got) == 3 && got[1].Ref == "a<b" && got[1].To == 250*time.Millisecond, true)
	must(t, json.Unmarshal([]byte("null"), &got))
	want(t, "null", got, nil)
	newer, err := lipsync.ParseOptions(`{"silence":"keep","segments":[{"start":0,"end":1,"speed":2}]}`)
	must(t, err)
	if newer.Silence != lipsync.KeepSilent || newer.Segments != nil || newer.Unread == nil || lipsync.CodeOf(newer.Unread) == lipsync.Invalid {
		t.Errorf("segments of a newer version: got %+v, want an error of ours", newer)
	}
}

// TestTracks makes requests with several speech tracks, and refuses those that don't fit the segments.
func TestTracks(t *testing.T) {
	f := newFixture(t)
	c := f.caller
	web := func(ref, url string) lipsync.Track { return lipsync.Track{Ref: ref, Source: lipsync.Source{URL: url}} }
	params := func(segments string, tracks ...lipsync.Track) lipsync.RequestParams {
		p := lipsync.RequestParams{Video: lipsync.Source{URL: "https://a.example/v"}, Audio: tracks[0].Source, AudioRef: tracks[0].Ref, More: tracks[1:]}
		if segments != "" {
			must(t, json.Unmarshal([]byte(segments), &p.Segments))
		}
		return p
	}
	const two = `[{"start":0,"end":1,"audio":{"ref":"ana"}},{"start":1,"end":2}]`
	ana, plain := web("ana", "https://a.example/ana"), web("", "https://b.example/")
	id, err := f.Generate(t.Context(), c, params(two, ana, plain))
	must(t, err)
	r, err := f.Details(t.Context(), c, id)
	must(t, err)
	want(t, "tracks", r.Tracks.Text(), `[{"ref":"ana"},{"url":"https://b.example/"}]`)
	want(t, "audios", reflect.DeepEqual(r.Audios(), []lipsync.NamedInput{{Ref: "ana", Input: lipsync.Input{URL: ana.URL}}, {Input: lipsync.Input{URL: plain.URL}}}), true)
	want(t, "inputs", len(r.Inputs()), 3)
	id, err = f.Generate(t.Context(), c, params(`[{"start":0,"end":1}]`, plain))
	must(t, err)
	r, err = f.Details(t.Context(), c, id)
	must(t, err)
	want(t, "one track", r.Tracks, nil)

	many := []lipsync.Track{ana}
	for range lipsync.MostTracks {
		many = append(many, plain)
	}
	largest := params(`[{"start":0,"end":1}]`, plain)
	largest.LargestFace = true
	options := params(`[{"start":0,"end":1}]`, plain)
	options.Options.SyncMode = lipsync.Loop
	preview := params(`[{"start":0,"end":1},{"start":3,"end":4}]`, plain)
	preview.Options.Preview = lipsync.Preview{Start: time.Second, Length: 2 * time.Second}
	for sentence, p := range map[string]lipsync.RequestParams{
		"audios with ref need segments":                                params("", ana),
		"segments can't be used with disable_active_speaker_detection": largest,
		"there can be at most 10 audios":                               params(two, many...),
		"ref of an audio must be 1 to 255 characters":                  params(two, web(strings.Repeat("x", 256), "https://a.example/")),
		`two audios have the ref "ana"`:                                params(two, ana, plain, ana),
		"no segment has the audio without ref":                         params(`[{"start":0,"end":1,"audio":{"ref":"ana"}}]`, ana, plain),
		`no segment has the audio "ben"`:                               params(two, ana, plain, web("ben", "https://a.example/")),
		`segment has an audio without ref; there is: "ana"`:            params(two, ana),
		`segment has the audio "ana"; there is: one without ref`:       params(two, plain),
		"no segment is in the preview":                                 preview,
		"with segments the options of the whole request can be: no_face, preview, mask; each segment can have: silence, voice_gain, original_gain, face": options,
		"audio URL must be an absolute http or https URL with a host, no user name and at most 8192 bytes":                                               params(two, ana, web("", "ftp://x")),
	} {
		_, err := f.Generate(t.Context(), c, p)
		wantError(t, sentence, err, lipsync.Invalid, sentence)
	}
}

// FuzzSegments reads segments of clients. Those that it accepts are in order, and have a length.
func FuzzSegments(f *testing.F) {
	f.Add([]byte(`[{"start":1,"end":2,"audio":{"ref":"a","start":0,"end":1},"options":{"face":{"id":"1,2,3"}}},{"start":0,"end":1}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var all lipsync.Segments
		if all.UnmarshalJSON(text) != nil {
			return
		}
		var last time.Duration
		for _, s := range all {
			if s.Start < last || s.End <= s.Start || s.End > lipsync.MostPreview || s.To > 0 && s.To <= s.From || s.To < 0 {
				t.Errorf("%s: got the segment %+v after %v", text, s, last)
			}
			last = s.End
		}
	})
}

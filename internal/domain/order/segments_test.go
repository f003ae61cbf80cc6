package order_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/check"
)

// TestSegments reads segments as a client sends them, in any order, and refuses others.
func TestSegments(t *testing.T) {
	var got order.Segments
	check.Must(t, json.Unmarshal([]byte(`[{"start":2.5,"end":4,"audio":{"ref":"anna","start":1,"end":1.5},"options":{"face":{"frame":60,"point":[10,20]},"voice_gain":2}},
		{"end":2.5,"start":0.0004,"options":{"silence":"keep","original_gain":0.5,"face":null}},{"start":4,"end":4.001,"audio":{"ref":"ben"}}]`), &got))
	check.Want(t, "segments", reflect.DeepEqual(got, order.Segments{
		{End: 2500 * time.Millisecond, Options: order.Options{Silence: order.KeepSilent, OriginalGain: .5}},
		{Start: 2500 * time.Millisecond, End: 4 * time.Second, Ref: "anna", From: time.Second, To: 1500 * time.Millisecond,
			Options: order.Options{Face: order.Face{By: order.FaceAt, Frame: 60, X: 10, Y: 20}, VoiceGain: 1}},
		{Start: 4 * time.Second, End: 4001 * time.Millisecond, Ref: "ben"},
	}), true)
	check.Want(t, "audios", reflect.DeepEqual(got.Refs(), []string{"", "anna", "ben"}), true)
	_, some := got.Unknown([]string{"ben", "anna", "", "carl"})
	check.Want(t, "unknown audio", some, false)
	ref, unknown := got.Unknown([]string{"anna", ""})
	check.Want(t, "unknown audio", unknown && ref == "ben", true)
	check.Must(t, got.Check(order.Options{NoFace: order.FailFaceless, Output: order.Output{Width: 320}}))
	check.Error(t, "other options", got.Check(order.Options{SyncMode: order.Loop}), failure.Invalid,
		"with segments the options of the whole request can be: no_face, preview, mask, video_track; each segment can have: silence, voice_gain, original_gain, face")
	check.Must(t, order.Segments(nil).Check(order.Options{SyncMode: order.Loop}))

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
		`[{"start":0,"end":1,"options":{"duck":true}}]`:       "options of a segment can be: " + order.NamesAt(order.OfSegment),
		`[{"start":0,"end":1,"options":{"face":{"boxes_url":"https://a.example"}}}]`: "face of a segment must be auto, id, or frame and point",
		`[{"start":0,"end":1,"options":{"silence":"no"}}]`:                           "silence must be one of: rest, keep",
	} {
		_, err := order.ParseSegments([]byte(text))
		check.Error(t, text, err, failure.Invalid, sentence)
	}
}

// TestStoredSegments stores segments with the options, and reads them back.
func TestStoredSegments(t *testing.T) {
	var got order.Segments
	check.Must(t, json.Unmarshal([]byte(` [ {"start":1.50,"end":2,"audio":{"ref":"a<b","start":0,"end":0.25},"options":{"face":{"id":"1,2,3"},"silence":null}},
		{"start":0,"end":1,"audio":{},"options":{}}, {"start":3e0,"end":4,"audio":{"ref":"ü"}}]`), &got))
	text, err := json.Marshal(got)
	check.Must(t, err)
	check.Want(t, "list", string(text), `[{"start":0,"end":1},{"start":1.5,"end":2,"audio":{"ref":"a\u003cb","start":0,"end":0.25},"options":{"face":{"frame":1,"point":[2,3]}}},{"start":3,"end":4,"audio":{"ref":"ü"}}]`)
	o := order.Options{NoFace: order.FailFaceless, Segments: got}
	again, err := order.ParseOptions(o.Text())
	check.Must(t, err)
	check.Want(t, "stored", again, o)
	check.Want(t, "segments", len(got) == 3 && got[1].Ref == "a<b" && got[1].To == 250*time.Millisecond, true)
	check.Must(t, json.Unmarshal([]byte("null"), &got))
	check.Want(t, "null", got, nil)
	newer, err := order.ParseOptions(`{"silence":"keep","segments":[{"start":0,"end":1,"speed":2}]}`)
	check.Must(t, err)
	if newer.Silence != order.KeepSilent || newer.Segments != nil || newer.Unread == nil || failure.CodeOf(newer.Unread) == failure.Invalid {
		t.Errorf("segments of a newer version: got %+v, want an error of ours", newer)
	}
}

// FuzzSegments reads segments of clients. Those that it accepts are in order, and have a length.
func FuzzSegments(f *testing.F) {
	f.Add([]byte(`[{"start":1,"end":2,"audio":{"ref":"a","start":0,"end":1},"options":{"face":{"id":"1,2,3"}}},{"start":0,"end":1}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var all order.Segments
		if all.UnmarshalJSON(text) != nil {
			return
		}
		var last time.Duration
		for _, s := range all {
			if s.Start < last || s.End <= s.Start || s.End > order.MostPreview || s.To > 0 && s.To <= s.From || s.To < 0 {
				t.Errorf("%s: got the segment %+v after %v", text, s, last)
			}
			last = s.End
		}
	})
}

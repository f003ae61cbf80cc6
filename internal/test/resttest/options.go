package resttest

import (
	"fmt"
	"math"
	"net/http"
	"testing"

	"lipsync/internal/domain/order"
)

// The sentences for options that can't be used.
const (
	badOptions = "options must be an object"
	badMode    = "sync_mode must be one of: bounce, loop, cut_off, silence, remap"
	badSilence = "silence must be one of: rest, keep"
	badNoFace  = "no_face must be one of: keep, fail"
	badVoice   = "voice_gain must be a number from 0 to 2"
	badGain    = "original_gain must be a number from 0 to 2"
	badDuck    = "duck must be true or false"
	badFace    = `face must be auto, {"id"}, {"frame", "point": [x, y]} with numbers from 0, or {"boxes_url"}`
	badBoxes   = "boxes_url must be an absolute http or https URL with a host, no user name and at most 8192 bytes"
	badMask    = "mask must be feather, a number from 0.25 to 2, and expand, a number from 0.85 to 1.25"
	badPreview = "preview must be start and seconds: numbers from 0 to 86400, seconds at least 0.001"
)

// hasNo returns the refusal of an unknown field of options or of an output.
func hasNo(object string, scope order.Scope, field string) string {
	return fmt.Sprintf("%s has no field %q; it has: %s", object, field, order.NamesAt(scope))
}

// options sends options in both generate calls, and reads them in the details of the request.
func (s *suite) options(t *testing.T) {
	badField := hasNo("options", order.OfRequest, "x")
	for sent, want := range map[string]string{
		`{}`:   ``,
		`null`: ``,
		`{"sync_mode":null,"silence":null,"no_face":null}`:              ``,
		`{"sync_mode":"bounce","silence":"rest","no_face":"keep"}`:      ``,
		`{"sync_mode":"loop"}`:                                          `{"sync_mode":"loop"}`,
		`{"sync_mode":"cut_off","no_face":"keep"}`:                      `{"sync_mode":"cut_off"}`,
		`{"sync_mode":"silence"}`:                                       `{"sync_mode":"silence"}`,
		`{"voice_gain":1,"original_gain":0,"duck":false}`:               ``,
		`{"voice_gain":0.5,"original_gain":0.25,"duck":true}`:           `{"voice_gain":0.5,"original_gain":0.25,"duck":true}`,
		`{"preview":{"start":0,"seconds":2.50}}`:                        `{"preview":{"start":0,"seconds":2.5}}`,
		`{"preview":{"seconds":0.10,"start":86400}}`:                    `{"preview":{"start":86400,"seconds":0.1}}`,
		`{"face":"auto"}`:                                               ``,
		`{"face":{"frame":12,"point":[640.4,0]}}`:                       `{"face":{"frame":12,"point":[640,0]}}`,
		`{"face":{"id":"12,640,1"}}`:                                    `{"face":{"frame":12,"point":[640,1]}}`,
		`{"face":{"boxes_url":"https://example.com/boxes.json"}}`:       `{"face":{"boxes_url":"https://example.com/boxes.json"}}`,
		`{"mask":{"feather":0.50,"expand":1.2}}`:                        `{"mask":{"feather":0.5,"expand":1.2}}`,
		`{"mask":{"feather":null,"expand":1}}`:                          ``,
		`{"audio_track":2,"video_track":1}`:                             `{"audio_track":2,"video_track":1}`,
		` { "sync_mode" : "remap", "silence":"keep","no_face":"fail"} `: `{"sync_mode":"remap","silence":"keep","no_face":"fail"}`,
	} {
		for name, c := range objectCalls(t, "options", sent) {
			if !s.tries(name + sent) {
				continue
			}
			t.Run(name+sent, func(t *testing.T) {
				c.token = s.key(t)
				id := s.do(t, c).requestID(t)
				if got := s.readDetails(t, c.token, id); string(got.Options) != want {
					t.Errorf("got %s, want %s", got.Options, want)
				}
			})
		}
	}
	var rows []row
	for sent, want := range map[string]string{
		`[]`:                                 badOptions,
		`"loop"`:                             badOptions,
		`1`:                                  badOptions,
		`{"x":1}`:                            badField,
		`{"sync_mode":"loop","x":null}`:      badField,
		`{"sync_mode":"Loop"}`:               badMode,
		`{"sync_mode":""}`:                   badMode,
		`{"sync_mode":1}`:                    badMode,
		`{"sync_mode":["loop"]}`:             badMode,
		`{"silence":true}`:                   badSilence,
		`{"silence":"close"}`:                badSilence,
		`{"no_face":{}}`:                     badNoFace,
		`{"voice_gain":"1"}`:                 badVoice,
		`{"original_gain":2.1}`:              badGain,
		`{"duck":1}`:                         badDuck,
		`{"preview":"0,1"}`:                  badPreview,
		`{"preview":{"start":1}}`:            badPreview,
		`{"face":"largest"}`:                 badFace,
		`{"audio_track":0}`:                  "audio_track must be a whole number from 1 to 64",
		`{"video_track":1.5}`:                "video_track must be a whole number from 1 to 64",
		`{"mask":"1,1"}`:                     badMask,
		`{"mask":{"blur":1}}`:                badMask,
		`{"mask":{"expand":1.3}}`:            badMask,
		`{"face":{"frame":1}}`:               badFace,
		`{"face":{"boxes_url":"ftp://a/b"}}`: badBoxes,
		`{"sync_mode":"loop","no_face":"x"}`: badNoFace,
	} {
		for name, c := range objectCalls(t, "options", sent) {
			rows = append(rows, row{name + sent, c, http.StatusBadRequest, want})
		}
	}
	for _, sent := range []string{``, `{`, `{"sync_mode":"loop"}x`, `sync_mode=loop`} {
		rows = append(rows, row{"form " + sent, objectCalls(t, "options", sent)["form "], http.StatusBadRequest, badOptions + ", as JSON"})
	}
	const largest = "disable_active_speaker_detection"
	for name, c := range map[string]call{
		"JSON": generateCall("application/json", good(`"options":{"face":{"frame":0,"point":[1,1]}}`, `"`+largest+`":true`)),
		"form": formOf(t, part{"options", "", `{"face":{"frame":0,"point":[1,1]}}`}, part{largest, "", "true"}, video(), audio()),
	} {
		rows = append(rows, row{name + " two faces", c, http.StatusBadRequest, "face can't be chosen with " + largest})
	}
	two := formOf(t, part{"options", "", `{}`}, part{"options", "", `{}`}, video(), audio())
	s.values(t, append(rows, row{"two", two, http.StatusBadRequest, "options was sent more than once"}))
}

// objectCalls returns a call of each kind that sends an object under the name.
func objectCalls(t *testing.T, name, sent string) map[string]call {
	t.Helper()
	return map[string]call{
		"JSON ": generateCall("application/json", good(`"`+name+`":`+sent)),
		"form ": formOf(t, video(), part{name, "", sent}, audio()),
	}
}

// isCutOff checks a request with the sync mode cut_off and a longer speech track. Its output is as long
// as the video, to the frame.
func (s *suite) isCutOff(t *testing.T, token, id string) {
	t.Helper()
	if r := s.final(t, token, id); r.Status != "completed" {
		t.Fatalf("got %+v, want it completed", r)
	}
	d := s.readDetails(t, token, id)
	d.wantFrames(t)
	if string(d.Options) != `{"sync_mode":"cut_off"}` || d.AudioSeconds < d.VideoSeconds+.5 {
		t.Errorf("got %+v, want its options, and audio that is longer than the video", d)
	}
	// A frame is 1/60 s or longer.
	if math.Abs(d.OutputSeconds-d.VideoSeconds) > 1./120 {
		t.Errorf("got an output of %v s, want it as long as the video of %v s", d.OutputSeconds, d.VideoSeconds)
	}
}

// wantFrames checks the frames and warnings of a completed request.
func (d details) wantFrames(t *testing.T) {
	t.Helper()
	if f := d.Frames; f == nil || f.Total <= 0 || f.Synced < 0 || f.Kept < 0 || f.Synced+f.Kept != f.Total {
		t.Errorf("got frames %s, want a total of synced and kept ones", fmt.Sprint(f))
	}
	if d.Warnings == nil || len(d.Warnings) > 0 {
		t.Errorf("got warnings %v, want an empty list", d.Warnings)
	}
}

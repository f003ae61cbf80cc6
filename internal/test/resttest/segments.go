package resttest

import (
	"fmt"
	"math"
	"net/http"
	"testing"
)

// segmentCalls returns calls with segments: one with URLs as inputs, and one with a form. Each of refs names an audio; "" is one
// without a name.
func segmentCalls(t *testing.T, segments string, refs ...string) map[string]call {
	t.Helper()
	body := `{"inputs":[{"type":"video","url":"` + videoURL + `"}`
	parts := []part{{"segments", "", segments}, video()}
	for _, ref := range refs {
		name, field := "audio", `null`
		if ref != "" {
			name, field = fmt.Sprintf("audio[%s]", ref), fmt.Sprintf("%q", ref)
		}
		body += fmt.Sprintf(`,{"type":"audio","url":%q,"ref":%s}`, audioURL, field)
		parts = append(parts, part{name, "a.wav", "an audio"})
	}
	return map[string]call{"URLs ": generateCall("application/json", body+`],"segments":`+segments+`}`), "form ": formOf(t, parts...)}
}

// segments sends segments in both generate calls, and reads them in the details of the request.
func (s *suite) segments(t *testing.T) {
	const two = `[{"start":0,"end":1.5,"audio":{"ref":"ana","start":2,"end":3},"options":{"voice_gain":0.5}},{"start":1.5,"end":2}]`
	for name, c := range segmentCalls(t, two, "ana", "") {
		t.Run(name, func(t *testing.T) {
			c.token = s.key(t)
			id := s.do(t, c).requestID(t)
			if got := string(s.readDetails(t, c.token, id).Segments); got != two {
				t.Errorf("got the segments %s, want %s", got, two)
			}
			if got := s.readDetails(t, c.token, id); len(got.Options) > 0 {
				t.Errorf("got the options %s", got.Options)
			}
		})
	}
	var rows []row
	refuse := func(name, want string, calls map[string]call) {
		for kind, c := range calls {
			rows = append(rows, row{kind + name, c, http.StatusBadRequest, want})
		}
	}
	for name, c := range segmentCalls(t, "null", "") {
		if name == "URLs " {
			rows = append(rows, row{"null", c, http.StatusOK, ""})
		}
	}
	const list = "segments must be a list of 1 to 100 segments"
	for _, sent := range []string{`[]`, `{}`, `"0-1"`} {
		refuse(sent, list, segmentCalls(t, sent, ""))
	}
	const one = `[{"start":0,"end":1}]`
	refuse("overlap", "segments must not overlap: one ends at 1 seconds, the next begins at 0.5", segmentCalls(t, `[{"start":0,"end":1},{"start":0.5,"end":2}]`, ""))
	refuse("no such audio", `segment has the audio "ana"; there is: one without ref`, segmentCalls(t, two, ""))
	refuse("unused audio", `no segment has the audio "ana"`, segmentCalls(t, one, "", "ana"))
	refuse("two of a name", `two audios have the ref "ana"`, map[string]call{"URLs ": segmentCalls(t, two, "ana", "ana")["URLs "]})
	refuse("two of a name", "audio[ana] was sent more than once", map[string]call{"form ": segmentCalls(t, two, "ana", "ana")["form "]})
	refuse("no audio", "expected exactly one audio input", map[string]call{"URLs ": segmentCalls(t, one)["URLs "]})
	refuse("no audio", "audio file is required", map[string]call{"form ": segmentCalls(t, one)["form "]})
	many := []string{"ana", ""}
	for i := range 9 {
		many = append(many, fmt.Sprint(i))
	}
	refuse("many audios", "there can be at most 10 audios", segmentCalls(t, two, many...))
	refuse("ref of a video", "only an audio input can have a ref", map[string]call{"": generateCall("application/json",
		`{"inputs":[{"type":"video","url":"`+videoURL+`","ref":"v"},{"type":"audio","url":"`+audioURL+`"}],"segments":`+one+`}`)})
	refuse("empty ref", "ref of an audio must be 1 to 255 characters", map[string]call{"": generateCall("application/json",
		`{"inputs":[{"type":"video","url":"`+videoURL+`"},{"type":"audio","url":"`+audioURL+`","ref":""}],"segments":`+one+`}`)})
	refuse("ref without segments", "audios with ref need segments", map[string]call{
		"URLs ": generateCall("application/json", `{"inputs":[{"type":"video","url":"`+videoURL+`"},{"type":"audio","url":"`+audioURL+`","ref":"a"}]}`),
		"form ": formOf(t, video(), part{"audio[a]", "a.wav", "an audio"}),
	})
	refuse("no JSON", list+", as JSON", map[string]call{"form ": segmentCalls(t, "0-1", "")["form "]})
	s.values(t, rows)
}

// isDubbed checks a request with two segments that have speech tracks of their own. Its output is as long as the video, and its
// frames outside of them stay as they are.
func (s *suite) isDubbed(t *testing.T, token, id string) {
	t.Helper()
	if r := s.final(t, token, id); r.Status != "completed" {
		t.Fatalf("got %+v, want it completed", r)
	}
	d := s.readDetails(t, token, id)
	d.wantFrames(t)
	if f := d.Frames; f.Synced == 0 || f.Kept == 0 || math.Abs(d.OutputSeconds-d.VideoSeconds) > 1./120 {
		t.Errorf("got %+v of %v s, want some synced and some kept frames, and the length of the video of %v s", *f, d.OutputSeconds, d.VideoSeconds)
	}
}

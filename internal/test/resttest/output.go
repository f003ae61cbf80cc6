package resttest

import (
	"net/http"
	"strings"
	"testing"

	"lipsync/internal/domain/order"
)

// outputs sends outputs in both generate calls, and reads them in the details of the request.
func (s *suite) outputs(t *testing.T) {
	for sent, want := range map[string]string{
		`{}`:   ``,
		`null`: ``,
		`{"format":null,"fps":null,"width":null,"file_name":null,"upload_url":null}`: ``,
		`{"upload_url":"https://storage.example:81/secret?signature=secret"}`:        `{"upload_url":"https://storage.example:81"}`,
		`{"format":"mp4","codec":"h264","quality":"source","fps":"source"}`:          ``,
		`{"format":"webm","codec":"vp9"}`:                                            `{"format":"webm"}`,
		`{"format":"mov","codec":"prores","quality":"low","file_name":"ü.x"}`:        `{"format":"mov","codec":"prores","quality":"low","file_name":"ü.x"}`,
		` { "fps" : 23.976, "width": 640, "codec":"hevc" ,"quality":"medium"} `:      `{"codec":"hevc","quality":"medium","fps":23.976,"width":640}`,
	} {
		for name, c := range objectCalls(t, "output", sent) {
			if !s.tries(name + sent) {
				continue
			}
			t.Run(name+sent, func(t *testing.T) {
				c.token = s.key(t)
				id := s.do(t, c).requestID(t)
				if got := s.readDetails(t, c.token, id); string(got.Output) != want || len(got.Options) > 0 {
					t.Errorf("got %s and %s, want %s and no options", got.Output, got.Options, want)
				}
			})
		}
	}
	const notObject = "output must be an object"
	const badUploadURL = "upload_url must be an absolute http or https URL with a host, no user name and at most 8192 bytes"
	var rows []row
	for sent, want := range map[string]string{
		`[]`:                               notObject,
		`"mp4"`:                            notObject,
		`{"x":1}`:                          hasNo("output", order.OfOutput, "x"),
		`{"format":"mkv"}`:                 "format must be one of: mp4, mov, webm",
		`{"codec":"av1"}`:                  "codec must be one of: h264, hevc, vp9, prores",
		`{"quality":""}`:                   "quality must be one of: source, high, medium, low",
		`{"fps":121}`:                      "fps must be a number from 1 to 120, or source",
		`{"width":"640"}`:                  "width must be a whole number from 16 to 4096",
		`{"file_name":"../a.mp4"}`:         "file_name must be 1 to 255 characters, without slashes and control characters",
		`{"upload_url":"ftp://a/b"}`:       badUploadURL,
		`{"upload_url":"https://a:b@c/d"}`: badUploadURL,
		`{"upload_url":["https://a/b"]}`:   badUploadURL,
		`{"upload_url":"https://a/` + strings.Repeat("a", 8192) + `"}`: badUploadURL,
		`{"codec":"prores"}`:               "codec must be one of those of format mp4: h264, hevc, vp9",
		`{"codec":"vp9","format":"mov"}`:   "codec must be one of those of format mov: h264, hevc, prores",
		`{"codec":"h264","format":"webm"}`: "codec must be one of those of format webm: vp9",
	} {
		for name, c := range objectCalls(t, "output", sent) {
			rows = append(rows, row{name + sent, c, http.StatusBadRequest, want})
		}
	}
	for name, c := range objectCalls(t, "options", `{"output":{}}`) {
		rows = append(rows, row{name + "as an option", c, http.StatusBadRequest, hasNo("options", order.OfRequest, "output")})
	}
	rows = append(rows, row{"form without JSON", objectCalls(t, "output", "webm")["form "], http.StatusBadRequest, notObject + ", as JSON"})
	s.values(t, rows)

	t.Run("form, before and after options", func(t *testing.T) {
		o, p := part{"options", "", `{"sync_mode":"loop"}`}, part{"output", "", `{"format":"webm"}`}
		for _, c := range []call{formOf(t, o, video(), p, audio()), formOf(t, p, video(), o, audio())} {
			c.token = s.key(t)
			id := s.do(t, c).requestID(t)
			if got := s.readDetails(t, c.token, id); string(got.Output) != `{"format":"webm"}` || string(got.Options) != `{"sync_mode":"loop"}` {
				t.Errorf("got %s and %s, want both", got.Output, got.Options)
			}
		}
	})
}

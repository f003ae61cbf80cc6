package resttest

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
)

// part is one part of a form: a file, if it has a file name.
type part struct{ name, file, value string }

// formOf returns a call with a form of the parts.
func formOf(t *testing.T, parts ...part) call {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, p := range parts {
		create := func() error { return w.WriteField(p.name, p.value) }
		if p.file != "" {
			create = func() error {
				f, err := w.CreateFormFile(p.name, p.file)
				if err == nil {
					_, err = f.Write([]byte(p.value))
				}
				return err
			}
		}
		if err := create(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return formCall(w.FormDataContentType(), body.String())
}

func formCall(contentType, body string) call {
	return call{method: http.MethodPost, path: "/v1/lipsync/generate-with-media", contentType: contentType, body: body}
}

// video and audio return the parts of the smallest form that the service accepts.
func video() part { return part{"video", "v.mp4", "a video"} }
func audio() part { return part{"audio", "a.wav", "an audio"} }

func (s *suite) media(t *testing.T) {
	t.Run("content type", func(t *testing.T) {
		s.table(t, []row{
			{"none", formCall("", ""), 400, "content-type must be multipart/form-data"},
			{"JSON", formCall("application/json", good()), 400, "content-type must be multipart/form-data"},
			{"other form", formCall("application/x-www-form-urlencoded", "video=1"), 400, "content-type must be multipart/form-data"},
			{"other multipart", formCall("multipart/mixed; boundary=x", "--x--\r\n"), 400, "content-type must be multipart/form-data"},
		})
	})
	t.Run("accepted", s.acceptedForms)
	t.Run("refused", s.refusedForms)
	t.Run("malformed", s.malformedForms)
	t.Run("fields", s.formFields)
	t.Run("sizes", s.formSizes)
}

func (s *suite) acceptedForms(t *testing.T) {
	text := func(name, value string) part { return part{name, "", value} }
	unbroken := formOf(t, video(), audio())
	unbroken.body = strings.TrimSuffix(unbroken.body, "\r\n")
	s.table(t, []row{
		{"two files", formOf(t, video(), audio()), 200, ""},
		{"audio first", formOf(t, audio(), video()), 200, ""},
		{"fields first", formOf(t, text("reference_id", "a"), text("disable_active_speaker_detection", "true"), audio(), video()), 200, ""},
		{"fields last", formOf(t, audio(), video(), text("disable_active_speaker_detection", "false"), text("reference_id", "a")), 200, ""},
		{"a flag as Python writes it", formOf(t, video(), audio(), text("disable_active_speaker_detection", "True")), 200, ""},
		{"unknown parts", formOf(t, text("x", "1"), video(), part{"y", "y.bin", "2"}, audio(), text("x", "3")), 200, ""},
		{"no break at the end", unbroken, 200, ""},
		{"odd file names", formOf(t, part{"video", `../a "b" ü;.mp4`, "v"}, part{"audio", "-i", "a"}), 200, ""},
	})
}

func (s *suite) refusedForms(t *testing.T) {
	text := func(name, value string) part { return part{name, "", value} }
	const flag = "disable_active_speaker_detection"
	var many []part
	for range 101 {
		many = append(many, text("x", ""))
	}
	s.table(t, []row{
		{"no parts", formOf(t), 400, "video file is required"},
		{"no video", formOf(t, audio()), 400, "video file is required"},
		{"no audio", formOf(t, video()), 400, "audio file is required"},
		{"video is no file", formOf(t, text("video", "http://example.com"), audio()), 400, "video file is required"},
		{"audio is no file", formOf(t, video(), text("audio", "x")), 400, "audio file is required"},
		{"empty video", formOf(t, part{"video", "v.mp4", ""}, audio()), 400, "video file is empty"},
		{"empty audio", formOf(t, video(), part{"audio", "a.wav", ""}), 400, "audio file is empty"},
		{"two videos", formOf(t, video(), video(), audio()), 400, "video was sent more than once"},
		{"two audios", formOf(t, video(), audio(), audio()), 400, "audio was sent more than once"},
		{"two references", formOf(t, text("reference_id", "a"), text("reference_id", "a")), 400, "reference_id was sent more than once"},
		{"two flags", formOf(t, text(flag, "true"), text(flag, "true")), 400, flag + " was sent more than once"},
		{"flag", formOf(t, video(), audio(), text(flag, "yes")), 400, flag + " must be true or false"},
		{"empty flag", formOf(t, video(), audio(), text(flag, "")), 400, flag + " must be true or false"},
		{"empty reference", formOf(t, video(), audio(), text("reference_id", "")), 400, "reference_id must be 1 to 255 characters"},
		{"long reference", formOf(t, video(), audio(), text("reference_id", strings.Repeat("x", 256))), 400, "reference_id must be 1 to 255 characters"},
		{"no UTF-8", formOf(t, video(), audio(), text("reference_id", "\xff")), 400, "invalid request body"},
		{"large reference", formOf(t, text("reference_id", strings.Repeat("x", 1<<20+1))), 413, "form without its files is larger than 1 MiB"},
		{"large unknown part", formOf(t, part{"x", "x.bin", strings.Repeat("x", 1<<20+1)}), 400, `form has no file "x"; its files are video, audio and audio[REF]`},
		{"small file of another name", formOf(t, part{"file", "v.mp4", "\xff\xfe"}, audio()), 400, "video file is required"},
		{"many parts", formOf(t, many...), 400, "form has more than 100 parts"},
	})
}

func (s *suite) malformedForms(t *testing.T) {
	whole := formOf(t, video(), audio())
	cut := func(at string) call {
		body, _, _ := strings.Cut(whole.body, at)
		return formCall(whole.contentType, body)
	}
	var rows []row
	for name, c := range map[string]call{
		"no boundary":      formCall("multipart/form-data", whole.body),
		"other boundary":   formCall("multipart/form-data; boundary=x", whole.body),
		"empty":            formCall(whole.contentType, ""),
		"JSON in it":       formCall(whole.contentType, good()),
		"cut in a header":  cut("filename"),
		"cut in the video": cut("deo\r\n"),
		"cut in the audio": cut("udio\r\n"),
		"no last line":     formCall(whole.contentType, strings.TrimSuffix(whole.body, "--\r\n")),
	} {
		rows = append(rows, row{name, c, 400, "invalid request body"})
	}
	s.values(t, rows)
}

// formFields checks that a reference_id in a form works as in JSON.
func (s *suite) formFields(t *testing.T) {
	token := s.key(t)
	c := formOf(t, video(), part{"reference_id", "", "form/é"}, audio())
	c.token = token
	id := s.do(t, c).requestID(t)
	got := s.read(t, token, "form/é")
	if got.ID != id || got.ReferenceID != "form/é" {
		t.Errorf("got request %s with reference %q, want %s with form/é", got.ID, got.ReferenceID, id)
	}
}

// formSizes checks that files of the largest sizes are accepted and larger ones refused. If the
// target has a limit of whole forms, formSizes checks that too.
func (s *suite) formSizes(t *testing.T) {
	file := func(kind string, size int64) part { return part{kind, kind, strings.Repeat("x", int(size))} }
	largest := []part{file("video", s.MaxVideo), file("audio", s.MaxAudio)}
	rows := []row{
		{"largest files", formOf(t, largest...), 200, ""},
		{"large video", formOf(t, audio(), file("video", s.MaxVideo+1)), 413, fmt.Sprintf("video is larger than %d MiB", s.MaxVideo>>20)},
		{"large audio", formOf(t, video(), file("audio", s.MaxAudio+1)), 413, fmt.Sprintf("audio is larger than %d MiB", s.MaxAudio>>20)},
	}
	if s.MaxForm > 0 {
		ofSize := func(size int64) call {
			frame := formOf(t, append(largest, file("filler", 0))...)
			return formOf(t, append(largest, file("filler", size-int64(len(frame.body))))...)
		}
		rows = append(rows,
			row{"largest form", ofSize(s.MaxForm), 200, ""},
			row{"large form", ofSize(s.MaxForm + 1), 413,
				fmt.Sprintf("request body is larger than %d bytes; send larger files by POST /v1/uploads", s.MaxForm)})
	}
	s.table(t, rows)
}

package resttest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/test/optiontest"
)

// Looks renders a few options by a model of a service that has others than that of Run, and looks at the outputs.
func Looks(t *testing.T, target Target, model string) {
	(&suite{Target: target, client: http.DefaultClient, name: t.Name()}).looks(t, model)
}

// looks renders a few options by a model, "" for the default, and looks at the outputs. The jobs have options, an output and segments,
// and files of each kind. TestTexts of package optiontest checks that every option gets to the worker.
func (s *suite) looks(t *testing.T, model string) {
	ofPerson := "face at a point"
	if s.FetchesHere {
		ofPerson = "face in boxes"
	}
	optiontest.Few(t, func(t *testing.T, j optiontest.Job) (path, failure string) {
		if j.Boxes != "" {
			files := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(j.Boxes))))
			defer files.Close()
			j.Options = strings.Replace(j.Options, optiontest.BoxesURL, files.URL+"/"+filepath.Base(j.Boxes), 1)
		}
		read := func(path string) string {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return string(content)
		}
		parts := []part{{"video", filepath.Base(j.Video), read(j.Video)}}
		for ref, path := range j.Audios {
			name := "audio"
			if ref != "" {
				name += "[" + ref + "]"
			}
			parts = append(parts, part{name, "a.wav", read(path)})
		}
		for name, text := range map[string]string{"options": j.Options, "output": j.Output, "segments": j.Segments, "model": model} {
			if text != "" {
				parts = append(parts, part{name, "", text})
			}
		}
		if j.LargestFace {
			parts = append(parts, part{"disable_active_speaker_detection", "", "true"})
		}
		token := s.key(t)
		id := s.do(t, formOf(t, parts...).with(token)).requestID(t)
		r := s.final(t, token, id)
		if r.Status != "completed" {
			return "", s.readDetails(t, token, id).FailureCode
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.OutputURL, nil)
		if err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(t.TempDir(), "output")
		if err := os.WriteFile(path, s.send(t, req).body, 0o600); err != nil {
			t.Fatal(err)
		}
		return path, ""
	}, ofPerson, "output mov", "segments, sound")
}

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"lipsync/internal/test/ffmpegtest"
)

// TestServiceMatrix sends some media from a seed to a server, and compares when flashes and beeps come in the outputs.
func TestServiceMatrix(t *testing.T) { tryMedia(t, ffmpegtest.Media(3, 4)) }

// TestServiceMatrix_long tries the media of another seed.
func TestServiceMatrix_long(t *testing.T) { tryMedia(t, ffmpegtest.Media(4, 20)) }

func tryMedia(t *testing.T, all []ffmpegtest.Medium) {
	data, head := t.TempDir(), ffmpegtest.Head(t, 50)
	s := startServer(t, data, "--allow-private-networks")
	c := testClient{s.url, newKey(t, data)}
	t.Run("media", func(t *testing.T) {
		for n, f := range all {
			t.Run(fmt.Sprint(n, " ", f), func(t *testing.T) {
				t.Parallel()
				video, speech, late := f.Write(t, head)
				files := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(video))))
				defer files.Close()
				at := func(kind, path string) string {
					if n%2 == 0 {
						return c.upload(t, kind, path)
					}
					return files.URL + "/" + filepath.Base(path)
				}
				r := c.wait(t, c.begin(t, map[string]any{"inputs": inputs(at("video", video), at("audio", speech)), "options": map[string]string{"sync_mode": "silence"}}))
				output := filepath.Join(t.TempDir(), "o.mp4")
				if r.Status != "completed" {
					t.Fatalf("got %+v, want it completed", r)
				}
				if err := c.download(t.Context(), r.OutputURL, output); err != nil {
					t.Fatal(err)
				}
				f.Check(t, output, late)
			})
		}
	})
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
}

package worker

import (
	"os"
	"path/filepath"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/render"
)

// TestDescribed says what files are that are no media.
func TestDescribed(t *testing.T) {
	for content, want := range map[string]string{
		"": "video is an empty file",
		"\n<!DOCTYPE html><title>Virus scan warning</title>":              "video is a web page",
		`{"error":"expired"}`:                                             "video is JSON, such as the message of an API",
		"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>": "video is XML, such as the message of a storage",
		"\x1f\x8b\x08\x00":                                                "video is a compressed archive; unpack it first",
		"1\n00:00:00 Hello":                                               "video is a text",
		"%PDF-1.7":                                                        "video is a PDF",
		"\x00\x01\x02\x03\x04":                                            accepted,
	} {
		path := filepath.Join(t.TempDir(), "video")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		f := failure.Failure{Code: failure.MediaUnsupported, Details: failure.Details{Kind: failure.Video}}
		if picture := (failure.Failure{Code: failure.VideoIsPicture}); failure.Of(Described(picture.Because(nil), render.Job{Video: path})).Cause != accepted {
			t.Errorf("%q as a picture: doesn't say what is accepted", content)
		}
		if got := failure.Of(Described(f.Because(nil), render.Job{Video: path})).Cause; got != want {
			t.Errorf("%q: got %q, want %q", content, got, want)
		}
	}
}

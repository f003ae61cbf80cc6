package order

import (
	"slices"
	"testing"
)

// TestURLRule names a % that is not escaped, as file names have it.
func TestURLRule(t *testing.T) {
	for text, want := range map[string]string{
		"https://a.example/100%.mp4": "video URL has a % without two hexadecimal digits after it: a % must be written as %25",
		"ftp://a.example/100%25.mp4": "video URL must be an absolute http or https URL with a host, no user name and at most 8192 bytes",
	} {
		if got := URLRule("video URL", text); ValidURL(text) || got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestTookTracks reads the warnings that name tracks.
func TestTookTracks(t *testing.T) {
	got := ConvertedHDR.With(TookVideo(2)).With(TookAudio(13)).With("took_another_track_1").Texts()
	if want := []string{"HDR input was converted to SDR", "video has several tracks of pictures: track 2 was taken", "audio has several sound tracks: track 13 was taken"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

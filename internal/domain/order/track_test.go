package order

import (
	"slices"
	"testing"
)

// TestTookTracks reads the warnings that name tracks.
func TestTookTracks(t *testing.T) {
	got := ConvertedHDR.With(TookVideo(2)).With(TookAudio(13)).With("took_another_track_1").Texts()
	if want := []string{"HDR input was converted to SDR", "video has several tracks of pictures: track 2 was taken", "audio has several sound tracks: track 13 was taken"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

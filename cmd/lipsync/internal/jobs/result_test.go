package jobs

import (
	"strings"
	"testing"

	"lipsync/internal/domain/order"
)

// TestTell wants a warning in the words of the command line, but in JSON in those of the API.
func TestTell(t *testing.T) {
	r := Result{Output: "talk.mp4", Warnings: order.DroppedSound.Texts()}
	var out, said strings.Builder
	if err := r.Tell(false, &out, &said, nil); err != nil || out.Len() > 0 || said.String() != "the video's own sound is not heard: option --original-gain adds it\n" {
		t.Errorf("got %v, %q and %q, want the flag named", err, out.String(), said.String())
	}
	if err := r.Tell(true, &out, &said, nil); err != nil || !strings.Contains(out.String(), "option original_gain adds it") {
		t.Errorf("got %v, %q, want the option named", err, out.String())
	}
}

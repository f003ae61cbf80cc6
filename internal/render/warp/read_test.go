package warp

import (
	"encoding/csv"
	"os"
	"strconv"
	"testing"

	"lipsync/internal/face/alignment"
	"lipsync/internal/test/check"
	"lipsync/internal/test/sharedtest"
)

// labelled are the clips of testdata/labels.csv, with their sizes.
var labelled = []struct {
	file                  string
	width, height, frames int
}{
	{"people/child.mp4", 512, 512, 200}, {"people/man_glasses.mp4", 512, 480, 240}, {"people/man_turned.mp4", 844, 844, 125},
	{"people/woman_earrings.mp4", 512, 512, 240}, {"people/woman_hands.mp4", 480, 908, 240},
}

// TestReadsLips compares what the engine reads with frames that were labelled by eye, of people by whom no constant was chosen: whether the
// lips touch.
func TestReadsLips(t *testing.T) {
	touch := touchLabels(t)
	right, all := 0, 0
	for _, c := range labelled {
		s := decodeClip(t, sharedtest.Path(t, "media", c.file), c.width, c.height, c.frames)
		a := s.analyse(t)
		if len(a.tracks) != 1 {
			t.Fatalf("%s: %d people, want one", c.file, len(a.tracks))
		}
		check.Must(t, a.tracks[0].smooth())
		check.Must(t, a.order[0].settle())
		read := a.tracks[0].observations(t)
		for frame, want := range touch[c.file] {
			all++
			got := read[frame].Gap() < alignment.Touching
			if got == want {
				right++
				continue
			}
			t.Logf("%s, frame %d: a gap of %.3f, touch: %t", c.file, frame, read[frame].Gap(), want)
		}
	}
	if share := float64(right) / float64(all); all < 200 || share < .98 {
		t.Errorf("%d of %d frames (%.3f) are read as they look, want .98 of at least 200", right, all, share)
	}
}

// touchLabels returns for each clip whether the lips touch, by frame. Frames in which the eye can't tell are left out.
func touchLabels(t *testing.T) map[string]map[int]bool {
	t.Helper()
	f, err := os.Open("testdata/labels.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]map[int]bool{}
	for _, row := range rows[1:] {
		clip, touch := row[0], row[2]
		frame, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		if labels[clip] == nil {
			labels[clip] = map[int]bool{}
		}
		if touch != "unsure" {
			labels[clip][frame] = touch == "yes"
		}
	}
	return labels
}

package render

import (
	"slices"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/render/engine"
	"lipsync/internal/sound/speech"
	"lipsync/internal/test/ffmpegtest"
)

// TestShares checks the shares. In the patterns, s is a frame of speech, and a dot one of silence.
func TestShares(t *testing.T) {
	const a, b, c = 255 * 3 / 4, 255 * 2 / 4, 255 * 1 / 4 // of a fade at 25 frames/s
	for _, test := range []struct {
		fps     float64
		pattern string
		want    []uint8
	}{
		{25, "", []uint8{}},
		{25, "sss", []uint8{255, 255, 255}},
		{25, "...", []uint8{255, 255, 255}},
		{25, "s......s", []uint8{255, 255, 255, 255, 255, 255, 255, 255}},
		{25, "s.......s", []uint8{255, a, b, c, 0, c, b, a, 255}},
		{25, ".........s", []uint8{0, 0, 0, 0, 0, 0, c, b, a, 255}},
		{25, "s.........", []uint8{255, a, b, c, 0, 0, 0, 0, 0, 0}},
		{25, "..........", []uint8{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{25, "s..s........s", []uint8{255, 255, 255, 255, a, b, c, 0, 0, c, b, a, 255}},
		{15, "s....s", []uint8{255, 255, 255, 255, 255, 255}},
		{15, "s.....s", []uint8{255, 170, 85, 0, 85, 170, 255}},
		{5, "s...s", []uint8{255, 127, 0, 127, 255}},
	} {
		spoken := make([]speech.Articulation, len(test.pattern))
		for i, p := range test.pattern {
			spoken[i].Silence = map[rune]float32{'s': .4, '.': .6}[p]
		}
		if got := shares(spoken, test.fps); !slices.Equal(got, test.want) {
			t.Errorf("%q at %v frames/s: got %v, want %v", test.pattern, test.fps, got, test.want)
		}
	}
}

// TestKeepSilent renders speech with a pause by engines with articulation and without, and checks that the video stays as it is
// in the pause, and that speech is painted.
func TestKeepSilent(t *testing.T) {
	const from, to = 3.5, 4.5 // seconds that are within the pause, and beyond its fades
	audio := ffmpegtest.Make(t, "pause.wav", "-i", "../sound/speech/testdata/human-librivox.wav", "-f", "lavfi", "-t", "1.4", "-i", "anullsrc=r=16000:cl=mono",
		"-filter_complex", "[0]asplit[a][b];[a][1][b]concat=n=3:v=0:a=1")
	video := ffmpegtest.Make(t, "a.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 200))
	for name, engine := range map[string]engine.Engine{"articulates": &numberer{}, "mute": &mute{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			output, result, err := renderBy(t, newRenderer(t, engine), video, audio, order.Options{Silence: order.KeepSilent})
			if err != nil {
				t.Fatal(err)
			}
			_, painted, _ := numbers(t, output)
			seen := 0
			for i, n := range painted {
				if n > 0 && n == i {
					seen++
				}
				if at := float64(i) / 25; at > from && at < to && n != 0 {
					t.Errorf("frame %d is painted %d, in the pause", i, n)
				}
			}
			if f := result.Frames; seen < 120 || f.Total != len(painted) || f.Kept() < 25 || f.Synced < seen {
				t.Errorf("%d of %d frames are painted fully, and told: %+v", seen, len(painted), f)
			}
		})
	}
}

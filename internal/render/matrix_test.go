package render

import (
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/test/check"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/rendertest"
)

// tryMedia renders media as their own speech, and compares when flashes and beeps come.
func tryMedia(t *testing.T, all []ffmpegtest.Medium) {
	for n, f := range all {
		t.Run(fmt.Sprint(n, " ", f), func(t *testing.T) {
			t.Parallel()
			video, speech, late := f.Write(t, "")
			dir := t.TempDir()
			r, output := newRenderer(t, &numberer{}), filepath.Join(dir, "o.mp4")
			if _, err := r.Render(t.Context(), Job{Video: video, Audio: speech, Output: output, Scratch: dir, Options: order.Options{SyncMode: order.Pad}}, nil); err != nil {
				t.Fatal(err)
			}
			f.Check(t, output, late)
		})
	}
}

// TestMatrix tries some media from a seed.
func TestMatrix(t *testing.T) { tryMedia(t, ffmpegtest.Media(1, 14)) }

// TestMatrix_long tries the media of another seed.
func TestMatrix_long(t *testing.T) { tryMedia(t, ffmpegtest.Media(2, 310)) }

var minutes = flag.Int("minutes", 25, "length of the videos of TestDrift_long and TestMemory_long")

// TestMemory_long renders a long clip in memory, and logs what memory the program takes. It starts no process and keeps no output, so it is
// much faster than TestDrift_long.
func TestMemory_long(t *testing.T) {
	clip := rendertest.Numbered(medium.Rate{Num: 30000, Den: 1001}, 30)
	clip.Samples = rendertest.Tone(1.001, .1)
	path := clip.File(t, "clip")
	r := newRenderer(t, &numberer{})
	r.Media = rendertest.Looped{Times: 60 * *minutes}
	r.Limits.Duration = time.Duration(*minutes+1) * time.Minute
	check.ResetPeak(t)
	result, err := r.Render(t.Context(), Job{Video: path, Audio: path, Output: filepath.Join(t.TempDir(), "o.mp4"), Scratch: t.TempDir()}, nil)
	if err != nil || result.Frames.Synced != 1800**minutes {
		t.Fatalf("got %+v (%v), want %d frames", result.Frames, err, 1800**minutes)
	}
	t.Logf("%d minutes: peak memory %d MB", *minutes, check.PeakMemory(t)>>20)
}

// TestDrift_long renders a long video with a flash and a beep in each minute, at the rate of NTSC. They stay together.
func TestDrift_long(t *testing.T) {
	const each = "between(mod(t,60),%g,%g)"
	minutes, rate := *minutes, medium.Rate{Num: 30000, Den: 1001}
	dir := t.TempDir()
	on := func(from, to float64) string { return fmt.Sprintf(each, from, to) }
	ffmpegtest.RunIn(t, dir, "-f", "lavfi", "-i", fmt.Sprintf("color=0x303030:s=160x96:r=%s:d=%d,drawbox=c=white:t=fill:enable='%s'", rate, 60*minutes, on(1, 1.15)),
		"-f", "lavfi", "-i", fmt.Sprintf("aevalsrc='.5*sin(2000*PI*t)*%s':s=44100:d=%d", on(1, 1.08), 60*minutes),
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", "-shortest", "m.mp4")
	path := filepath.Join(dir, "m.mp4")
	r, output := newRenderer(t, &numberer{}), filepath.Join(dir, "o.mp4")
	r.Limits.Duration = time.Duration(minutes+1) * time.Minute
	check.ResetPeak(t)
	if _, err := r.Render(t.Context(), Job{Video: path, Audio: path, Output: output, Scratch: dir}, nil); err != nil {
		t.Fatal(err)
	}
	peak := check.PeakMemory(t)
	flashes, beeps, shown, heard := ffmpegtest.Events(t, output)
	if len(flashes) != minutes || len(beeps) != minutes || math.Abs(shown-heard) > .041 {
		t.Fatalf("%d flashes and %d beeps in %.3f s of pictures and %.3f s of sound, want %d of each", len(flashes), len(beeps), shown, heard, minutes)
	}
	early, late := math.Inf(1), math.Inf(-1)
	for i := range minutes {
		second := float64(60*i + 1)
		first := math.Ceil(second*rate.Float()-1e-6) / rate.Float() // frame that flashes
		if wrong := flashes[i] - first; math.Abs(wrong) > .001 {
			t.Errorf("minute %d: the flash comes %.3f s late", i, wrong)
		}
		by := (beeps[i] - second) - (flashes[i] - first)
		early, late = min(early, by), max(late, by)
	}
	t.Logf("%d minutes: beeps come %.1f to %.1f ms after the flashes, against the source; peak memory %d MB", minutes, 1000*early, 1000*late, peak>>20)
	if early < -.02 || late > .02 {
		t.Errorf("beeps come %.3f to %.3f s after the flashes", early, late)
	}
}

package render

import (
	"math"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/ffmpegtest"
)

// TestPreview renders parts of videos whose frames show their numbers. In their own sound, and in the speech track, a tone begins at
// 2 s, and lasts .2 s.
func TestPreview(t *testing.T) {
	const burst = "aevalsrc=between(t\\,2\\,2.2)*.2*sin(600*PI*t):d=4:s=48000"
	clip := func(name, rate string, args ...string) func(*testing.T) string {
		return func(t *testing.T) string {
			input := []string{"-f", "lavfi", "-i", ffmpegtest.Numbered(rate, 100), "-f", "lavfi", "-i", burst}
			return ffmpegtest.Make(t, name, append(input, args...)...)
		}
	}
	voice := ffmpegtest.Make(t, "voice.wav", "-f", "lavfi", "-i", "aevalsrc=between(t\\,2\\,2.2)*.3*sin(2000*PI*t):d=4:s=48000")
	for _, test := range []struct {
		name         string
		video        func(*testing.T) string
		mode         order.SyncMode
		from, length time.Duration
		first        int // number of the source frame that is shown first
		frames       int
	}{
		{"one key frame", clip("a.mp4", "25", "-g", "250"), order.Bounce, 2 * time.Second, 400 * time.Millisecond, 50, 10},
		{"start between two frames", clip("a.mp4", "25"), order.Loop, 2010 * time.Millisecond, 400 * time.Millisecond, 50, 10},
		{"29.97", clip("a.mkv", "30000/1001"), order.CutOff, 2 * time.Second, 400 * time.Millisecond, 60, 12},
		{"starts late", clip("a.mkv", "25", "-output_ts_offset", "7.03"), order.Pad, 2 * time.Second, 400 * time.Millisecond, 50, 10},
		{"no index", clip("unstated.mkv", "25", "-f", "matroska", "-live", "1"), order.Bounce, 2 * time.Second, 400 * time.Millisecond, 50, 10},
		{"WebM", clip("a.webm", "25", "-c:v", "libvpx", "-b:v", "1M", "-deadline", "realtime"), order.Remap, 2 * time.Second, 400 * time.Millisecond, 50, 10},
		{"from the beginning", clip("a.avi", "25", "-c:v", "ffv1", "-c:a", "pcm_s16le"), order.Bounce, 0, 400 * time.Millisecond, 0, 10},
		{"a part of a frame at its end", clip("a.mp4", "25"), order.Loop, 2 * time.Second, 410 * time.Millisecond, 50, 11},
		{"near the end", clip("a.mp4", "25"), order.CutOff, 3800 * time.Millisecond, time.Second, 95, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := order.Options{SyncMode: test.mode, OriginalGain: 1, Preview: order.Preview{Start: test.from, Length: test.length}}
			output, _, err := renderBy(t, newRenderer(t, &numberer{}), test.video(t), voice, o)
			if err != nil {
				t.Fatal(err)
			}
			source, painted, _ := numbers(t, output)
			if len(source) != test.frames {
				t.Fatalf("got %d frames, want %d", len(source), test.frames)
			}
			for i := range source {
				if source[i] != test.first+i || painted[i] != i {
					t.Fatalf("frame %d shows source %d painted %d, want %d and %d", i, source[i], painted[i], test.first+i, i)
				}
			}
			if test.frames < 10 {
				return
			}
			amplitude := amplitudes(t, output)
			for hz, loud := range map[float64]float64{originalTone: .2, voiceTone: .3} {
				for at, want := range map[float64]float64{.05: loud, .28: 0} {
					if test.from == 0 {
						want = 0
					}
					if got := amplitude(hz, at); math.Abs(got-want) > .02 {
						t.Errorf("%.0f Hz at %.2f s: got an amplitude of %.3f, want %.3f", hz, at, got, want)
					}
				}
			}
		})
	}
}

// TestPreviewOfStill renders a part of the speech track for a picture.
func TestPreviewOfStill(t *testing.T) {
	t.Parallel()
	o := order.Options{Preview: order.Preview{Start: time.Second, Length: 400 * time.Millisecond}}
	output, _, err := renderBy(t, newRenderer(t, &numberer{}), photo(t, "unstated.png"), sound(t, "a.wav", "1.2"), o)
	if err != nil {
		t.Fatal(err)
	}
	checkOutput(t, output, .2)
}

// TestPreviewOfLongAudio renders a part of an audio that states ten hours. renderBy checks that no more than the limit is measured.
func TestPreviewOfLongAudio(t *testing.T) {
	t.Parallel()
	video := ffmpegtest.Make(t, "a.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20))
	o := order.Options{Preview: order.Preview{Length: 400 * time.Millisecond}}
	if _, _, err := renderBy(t, newRenderer(t, &numberer{}), video, edit(t, sound(t, "a.mka", "0.8"), claimHours), o); err != nil {
		t.Error(err)
	}
}

// TestPreviewAfterEnd begins previews after the end of one of the media.
func TestPreviewAfterEnd(t *testing.T) {
	short := func(name string, args ...string) string {
		return ffmpegtest.Make(t, name, append([]string{"-f", "lavfi", "-i", ffmpegtest.Numbered("25", 25)}, args...)...)
	}
	for _, test := range []struct{ name, video, audio, want string }{
		{"video", short("a.mp4"), sound(t, "a.wav", "9"), "video ends before the preview begins"},
		{"video of unknown length", short("a.mkv", "-live", "1"), sound(t, "a.wav", "9"), "video ends before the preview begins"},
		{"audio", ffmpegtest.Make(t, "a.mp4", "-f", "lavfi", "-i", "color=s=64x64:d=9"), sound(t, "a.wav", "1"), "audio ends before the preview begins"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := order.Options{Preview: order.Preview{Start: 5 * time.Second, Length: time.Second}}
			_, _, err := renderBy(t, newRenderer(t, &numberer{}), test.video, test.audio, o)
			if got := failure.MessageOf(err); got != test.want || failure.Of(err).Code != failure.PreviewAfterEnd {
				t.Errorf("got %q (%v), want %q", got, err, test.want)
			}
		})
	}
}

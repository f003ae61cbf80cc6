package wav2lip

import (
	"context"
	"image"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/intake"
	"lipsync/internal/render/neural"
	"lipsync/internal/render/people"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/neuraltest"
)

// seated is a tracker that finds one face, always at the same place, and misses it in some
// frames. If it has missed the face for long, the face starts a new track.
type seated struct {
	frame  int // that comes next
	missed []int
	track  int
	misses int // in a row
}

func (s *seated) Add(_ context.Context, frame *image.YCbCr) (*tracking.Seen, error) {
	seen := new(tracking.Seen)
	if slices.Contains(s.missed, s.frame) {
		s.misses++
	} else {
		if s.misses > tracking.LongestGap {
			s.track++
		}
		s.misses = 0
		face := detection.Face{Box: detection.Box{X: 160, Y: 150, Size: 160}, Landmarks: sitter.Landmarks()}
		seen.Faces = []tracking.Face{{Track: s.track, Face: face, Crop: sitter.Crop(frame)}}
	}
	s.frame++
	return seen, nil
}

var sitter = facetest.Head{X: 160, Y: 110, Eyes: 60}

// The network paints bits on the face. These are their number, the place of the first one on
// the canonical face, and the width and height of each.
const bits, bitLeft, bitTop, bitWide, bitTall = 8, .75, 1.35, .11, .3

// TestFramesGetTheirSound renders videos with a network that finds out the number of the
// window of sound that it gets, and paints it. Each frame of the output must show the number
// of its own window, although the jobs run at once and share the network's batches.
func TestFramesGetTheirSound(t *testing.T) {
	path, heard := chirp(t, 2.03)
	e := newTestEngine(t, 96, 4, func(_, sound, out []float32) { paintNumber(out, heard(sound)) })
	for _, rate := range []medium.Rate{{Num: 24000, Den: 1001}, {Num: 25, Den: 1}, {Num: 30000, Den: 1001}, {Num: 30, Den: 1}, {Num: 50, Den: 1}, {Num: 60, Den: 1}} {
		t.Run(rate.String(), func(t *testing.T) {
			t.Parallel()
			video := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", "color=gray:s=320x260:d=1:r="+rate.String())
			numbers := readNumbers(t, renderTest(t, e, video, path))
			if want := rate.Frames(int64(2.03*16000), 16000); len(numbers) != int(want) {
				t.Fatalf("%d frames, want %d", len(numbers), want)
			}
			const columns = int(2.03*16000)/200 + 1
			for i, got := range numbers {
				// The published rule, in whole numbers.
				want := min(i*80*int(rate.Den)/int(rate.Num), columns-16)
				if got != want {
					t.Errorf("frame %d hears from column %d on, want %d", i, got, want)
				}
			}
		})
	}
}

// chirp makes a sound that rises all the time, and a function that returns the number of a
// window of it.
func chirp(t *testing.T, seconds float64) (path string, which func(sound []float32) int) {
	samples := make([]int16, int(seconds*16000))
	for i := range samples {
		s := float64(i) / 16000
		samples[i] = int16(12000 * math.Sin(2*math.Pi*(200*s+1400*s*s)))
	}
	sound := neuraltest.PCM(samples)
	raw, _ := io.ReadAll(sound)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "chirp.pcm"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	path = ffmpegtest.Make(t, "chirp.wav", "-f", "s16le", "-ar", "16000", "-ac", "1", "-i", filepath.Join(dir, "chirp.pcm"))
	windows := make([]window, columnsOf(int64(len(samples)))-columns+1)
	l := newSpectrogram()
	for i := range windows {
		if err := l.fill(&windows[i], sound, i); err != nil {
			t.Fatal(err)
		}
	}
	return path, func(sound []float32) (nearest int) {
		least := float32(math.MaxFloat32)
		for i := range windows {
			var d float32
			for k, v := range sound {
				d += (v - windows[i][k]) * (v - windows[i][k])
			}
			if d < least {
				nearest, least = i, d
			}
		}
		return nearest
	}
}

// paintNumber paints a face of 96 × 96 pixels with a number on it.
func paintNumber(out []float32, number int) {
	for i := range out {
		x := view.Left + (float64(i%96)+.5)/96*(view.Right-view.Left)
		y := view.Top + (float64(i%(96*96)/96)+.5)/96*(view.Bottom-view.Top)
		k := int(math.Floor((x - bitLeft) / bitWide))
		out[i] = .5
		if k >= 0 && k < bits && math.Abs(y-bitTop-bitTall/2) < bitTall/2 {
			out[i] = float32(number >> k & 1)
		}
	}
}

// TestMissedFace checks that the mouth of the source isn't seen in frames in which the face
// was only missed.
func TestMissedFace(t *testing.T) {
	e := newTestEngine(t, 96, 4, func(_, _, out []float32) { paintNumber(out, 1<<bits-1) })
	video := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", "color=0x404040:s=320x260:d=2:r=25")
	audio := ffmpegtest.Make(t, "in.wav", "-f", "lavfi", "-i", "sine=d=2")
	numbers := readNumbers(t, renderTest(t, e, video, audio, 10, 11, 12, 30, 31, 32, 33, 34))
	for i, got := range numbers {
		want := 1<<bits - 1
		if i >= 30 && i < 35 { // there it is gone
			want = 0
		}
		if got != want {
			t.Errorf("frame %d: got %08b, want %08b", i, got, want)
		}
	}
}

func renderTest(t *testing.T, e *neural.Engine, video, audio string, missed ...int) (output string) {
	t.Helper()
	output = filepath.Join(t.TempDir(), "out.mp4")
	if err := renderTo(t.Context(), t, e, video, audio, output, missed...); err != nil {
		t.Fatal(err)
	}
	return output
}

// renderTo renders a video of the sitter, who is missed in some frames.
func renderTo(ctx context.Context, t *testing.T, e *neural.Engine, video, audio, output string, missed ...int) error {
	_, err := renderJob(ctx, t, e, render.Job{Video: video, Audio: audio, Output: output}, missed...)
	return err
}

// renderJob is renderTo for a job with more than files.
func renderJob(ctx context.Context, t *testing.T, e *neural.Engine, job render.Job, missed ...int) (render.Result, error) {
	r := &render.Renderer{
		Media: ffmpegtest.Tools(t), Engines: map[string]engine.Engine{"wav2lip": e}, Limits: intake.DefaultLimits(),
		NewTracker: func(float64) people.Tracker { return &seated{missed: missed} },
	}
	job.Scratch, job.Engine, job.LargestFace = filepath.Dir(job.Output), "wav2lip", true
	return r.Render(ctx, job, nil)
}

// TestOptions renders by options that concern the mouth: pauses of the speech, silence after it, chosen faces, segments, and outputs of each codec.
func TestOptions(t *testing.T) {
	talk := "../../sound/speech/testdata/human-librivox.wav" // 3.29 s
	paused := ffmpegtest.Make(t, "paused.wav", "-i", talk, "-f", "lavfi", "-t", "1.4", "-i", "anullsrc=r=16000:cl=mono",
		"-filter_complex", "[0]asplit[a][b];[a][1][b]concat=n=3:v=0:a=1")
	tone := ffmpegtest.Make(t, "tone.wav", "-f", "lavfi", "-i", "sine=d=1")
	boxes := filepath.Join(t.TempDir(), "boxes.json") // of the sitter, except for the first 10 frames
	if err := os.WriteFile(boxes, []byte("["+strings.Repeat("null,", 10)+strings.Repeat("[80,70,240,230],", 14)+"null]"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The number is 1 where the network hears silence, and 255 elsewhere.
	e := newTestEngine(t, 96, 4, func(_, sound, out []float32) {
		number := 1
		if slices.Max(sound) > -4 {
			number = 1<<bits - 1
		}
		paintNumber(out, number)
	})
	for _, c := range []struct {
		name, audio, video string // the video's length in seconds
		options            order.Options
		want               map[int]int // number by frame
		frames             int
		segments           order.Segments
	}{
		{"a pause is kept", paused, "8", order.Options{Silence: order.KeepSilent}, map[int]int{20: 255, 90: 0, 100: 0, 110: 0, 140: 255}, 200, nil},
		{"a pause rests", paused, "8", order.Options{}, map[int]int{20: 255, 100: 1, 140: 255}, 200, nil},
		{"silence after the speech", tone, "2", order.Options{SyncMode: order.Pad}, map[int]int{0: 255, 20: 255, 30: 1, 40: 1, 49: 1}, 50, nil},
		{"a face at a point", tone, "1", order.Options{Face: order.Face{By: order.FaceAt, Frame: 3, X: 160, Y: 150}}, map[int]int{0: 255, 24: 255}, 25, nil},
		{"a face in boxes", tone, "1", order.Options{Face: order.Face{By: order.FaceInBoxes}}, map[int]int{0: 0, 9: 0, 10: 255, 23: 255, 24: 0}, 25, nil},
		{"speech on after the end", paused, "1", order.Options{SyncMode: order.CutOff}, map[int]int{20: 255, 24: 255}, 25, nil},
		{"half the rate", tone, "1", order.Options{Output: order.Output{FPS: 12500}}, map[int]int{0: 255, 12: 255}, 13, nil},
		{"WebM at 24", tone, "1", order.Options{Output: order.Output{Format: order.WebM, FPS: 24000}}, map[int]int{0: 255, 23: 255}, 24, nil},
		{"ProRes at twice the rate", tone, "1", order.Options{Output: order.Output{Format: order.MOV, Codec: order.ProRes, FPS: 50000}}, map[int]int{0: 255, 49: 255}, 50, nil},
		{"HEVC", tone, "1", order.Options{Output: order.Output{Codec: order.HEVC, Quality: order.Medium}}, map[int]int{0: 255, 24: 255}, 25, nil},
		{"segments", tone, "2", order.Options{}, map[int]int{9: 0, 15: 255, 24: 255, 30: 0, 40: 255, 49: 255}, 50, order.Segments{
			{Start: 400 * time.Millisecond, End: 1200 * time.Millisecond}, {Start: 1400 * time.Millisecond, End: 2 * time.Second},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			video := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", "color=0x404040:s=320x260:r=25:d="+c.video)
			job := render.Job{Video: video, Audio: c.audio, Output: filepath.Join(t.TempDir(), "out"+c.options.Output.Extension()), Options: c.options, Boxes: boxes, Segments: c.segments,
				Audios: map[string]string{"": c.audio}}
			result, err := renderJob(t.Context(), t, e, job)
			if err != nil {
				t.Fatal(err)
			}
			numbers := readNumbers(t, job.Output)
			if len(numbers) != c.frames || result.Frames.Total != c.frames {
				t.Fatalf("%d frames, told %+v, want %d", len(numbers), result.Frames, c.frames)
			}
			if all := result.Frames.Kept() == 0; all != (c.options.Silence == order.RestSilent && c.options.Face.By != order.FaceInBoxes && c.segments == nil) {
				t.Errorf("told %+v", result.Frames)
			}
			for frame, number := range c.want {
				if numbers[frame] != number {
					t.Errorf("frame %d: got %08b, want %08b", frame, numbers[frame], number)
				}
			}
		})
	}
}

// readNumbers reads the number that is painted on each frame of a video.
func readNumbers(t *testing.T, path string) (numbers []int) {
	t.Helper()
	_, all := ffmpegtest.Frames(t, path)
	for _, frame := range all {
		n := 0
		for k := range bits {
			x, y := sitter.At(bitLeft+(float64(k)+.5)*bitWide-1.2, bitTop+bitTall/2-.45)
			if frame.YCbCrAt(int(x+.5), int(y+.5)).Y > 126 {
				n |= 1 << k
			}
		}
		numbers = append(numbers, n)
	}
	return numbers
}

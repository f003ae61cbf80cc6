package render

import (
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/footage"
	"lipsync/internal/render/intake"
	"lipsync/internal/render/people"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/rendertest"
)

// numberer is an engine that paints each output frame's number below the
// source's own, and checks that it is called as the port promises.
type numberer struct {
	seen []int // numbers in the frames, in order; -1 where no crop showed it
	out  engine.Output
}

const paintedAt = 48 // row of the painted number

func (e *numberer) Analyse(engine.Video) (engine.Analyser, error) {
	e.seen = nil
	return e, nil
}

func (e *numberer) Workers() int { return 3 }

func (e *numberer) Articulates() bool { return true }

func (e *numberer) Add(f alignment.Frame) error {
	if f.Index != len(e.seen) {
		return fmt.Errorf("saw frame %d after %d frames", f.Index, len(e.seen))
	}
	number := -1
	if len(f.Faces) > 0 && image.Rect(0, 0, ffmpegtest.Width, ffmpegtest.Height).In(f.Faces[0].Crop.Rect) {
		number = ffmpegtest.Number(f.Faces[0].Crop.YCbCr, 0)
	}
	e.seen = append(e.seen, number)
	return nil
}

func (e *numberer) Plan(_ context.Context, out engine.Output) (engine.Painter, error) {
	e.out = out
	return e, nil
}

func (e *numberer) Paint(_ context.Context, output int, frame *image.YCbCr) ([]engine.Mouth, error) {
	got, want := ffmpegtest.Number(frame, 0), e.seen[e.out.Source(output)]
	if got != want && want >= 0 {
		return nil, fmt.Errorf("output %d shows source frame %d, want %d", output, got, want)
	}
	if e.out.Speaker(e.out.Source(output)) < 0 {
		return nil, nil
	}
	r := image.Rect(0, paintedAt, ffmpegtest.Width, paintedAt+16)
	m := engine.Mouth{Image: image.NewYCbCr(r, image.YCbCrSubsampleRatio420), Mask: image.NewAlpha(r)}
	for i := range m.Mask.Pix {
		m.Mask.Pix[i] = 255
	}
	for i := range m.Image.Cb {
		m.Image.Cb[i], m.Image.Cr[i] = 128, 128
	}
	ffmpegtest.Draw(m.Image, paintedAt, output)
	return []engine.Mouth{m}, nil
}

// fixedTracker sees one face, always at the same place.
type fixedTracker struct{ frames int }

func (f *fixedTracker) Add(_ context.Context, frame *image.YCbCr) (*tracking.Seen, error) {
	f.frames++
	face := someone(0, 60)
	face.Crop = wholeOf(frame)
	return &tracking.Seen{Faces: []tracking.Face{face}, Cut: f.frames == 1}, nil
}

// someone returns a face of a size in the middle of a numbered frame.
func someone(track int, size float32) tracking.Face {
	head := facetest.Head{X: 80, Y: 36, Eyes: float64(size) / 2.4}
	return tracking.Face{Track: track, Face: detection.Face{Box: detection.Box{X: 80, Y: 48, Size: size}, Landmarks: head.Landmarks()}}
}

// wholeOf copies a frame, from which an engine can then read its number.
func wholeOf(frame *image.YCbCr) *pixels.Crop { return pixels.NewCrop(frame, frame.Rect, 25) }

func newRenderer(t testing.TB, e engine.Engine) *Renderer {
	return &Renderer{
		Media: ffmpegtest.Tools(t), Engines: map[string]engine.Engine{"": e}, Limits: intake.DefaultLimits(),
		NewTracker: func(float64) people.Tracker { return &fixedTracker{} }, Basis: basis("this program"),
	}
}

// inMemory returns a renderer of clips of package rendertest.
func inMemory(t testing.TB, e engine.Engine) *Renderer {
	r := newRenderer(t, e)
	r.Media = rendertest.Media{}
	return r
}

// numbered makes a clip of numbered frames for inMemory.
func numbered(t testing.TB, rate string, frames int) string {
	t.Helper()
	rates := map[string]medium.Rate{"25": {Num: 25, Den: 1}, "30000/1001": {Num: 30000, Den: 1001}}
	return rendertest.Numbered(rates[rate], frames).File(t, "numbered")
}

// unstated makes a clip of 25 frames/s that states no length.
func unstated(t testing.TB, frames int) string {
	t.Helper()
	c := rendertest.Numbered(medium.Rate{Num: 25, Den: 1}, frames)
	c.Unstated = true
	return c.File(t, "live")
}

// tone makes a tone of a length in seconds for inMemory.
func tone(t testing.TB, seconds string) string {
	t.Helper()
	length, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		t.Fatal(err)
	}
	return rendertest.Clip{Samples: rendertest.Tone(length, .1)}.File(t, "tone")
}

// mediaOf returns media that can read a file.
func mediaOf(t testing.TB, path string) Media {
	t.Helper()
	if _, err := (rendertest.Media{}).Probe(t.Context(), path); err == nil {
		return rendertest.Media{}
	}
	return ffmpegtest.Tools(t)
}

// sound makes a tone of a length in seconds.
func sound(t testing.TB, name, seconds string, args ...string) string {
	return ffmpegtest.Make(t, name, append([]string{"-f", "lavfi", "-i", "sine=f=300:d=" + seconds}, args...)...)
}

// notes is an Observer that writes down what it learns.
type notes struct {
	measured [][2]time.Duration
	size     int64 // as it was measured last
	unkept   []int // numbers of pieces that were not kept
	progress []Progress
}

func (n *notes) Measured(video, audio time.Duration, size int64) {
	n.measured, n.size = append(n.measured, [2]time.Duration{video, audio}), size
}

func (n *notes) Unkept(piece int, _ error) { n.unkept = append(n.unkept, piece) }

func (n *notes) Progress(p Progress) { n.progress = append(n.progress, p) }

// render renders a job and returns the path of its output.
func render(t testing.TB, r *Renderer, video, audio string) (string, error) {
	t.Helper()
	output, _, err := renderBy(t, r, video, audio, order.Options{})
	return output, err
}

// renderBy renders a job with options, and compares it with its estimate.
func renderBy(t testing.TB, r *Renderer, video, audio string, options order.Options) (string, Result, error) {
	t.Helper()
	r = keepReads(r)
	output, told, err := renderOnly(t, r, video, audio, options)
	dir := t.TempDir()
	compareEstimate(t, r, Job{Video: video, Audio: audio, Scratch: dir, Options: options}, told, err)
	wantFiles(t, dir, 0)
	return output, told, err
}

// renderOnly renders a job with options. The name of a video that states no length begins with unstated.
func renderOnly(t testing.TB, r *Renderer, video, audio string, options order.Options) (string, Result, error) {
	t.Helper()
	dir := t.TempDir()
	output := filepath.Join(dir, "out put"+options.Output.Extension())
	o := &notes{}
	told, err := r.Render(t.Context(), Job{Video: video, Audio: audio, Output: output, Scratch: dir, Options: options}, o)
	if (told.Length > 0) != (err == nil) {
		t.Errorf("told of an output of %v, with error %v", told.Length, err)
	}
	measured := [2]time.Duration{told.VideoLength, told.AudioLength}
	if len(o.measured) > 0 && measured != o.measured[0] {
		t.Errorf("told of media of %v, measured %v", measured, o.measured[0])
	}
	if err == nil && options.SyncMode != order.CutOff && options.SyncMode != order.Pad && (o.size < told.Size/2 || o.size > 2*told.Size) {
		t.Errorf("measured a size of %d, want about %d", o.size, told.Size)
	}
	asSpeech := options.SyncMode != order.CutOff && options.SyncMode != order.Pad && options.Preview.Length == 0
	shortest := map[bool]time.Duration{true: 0, false: 1}[strings.HasPrefix(filepath.Base(video), "unstated")]
	if frame := 100 * time.Millisecond; err == nil && (measured[0] < shortest || asSpeech && (measured[1]-told.Length).Abs() > frame) {
		t.Errorf("measured media of %v for an output of %v", measured, told.Length)
	}
	if err == nil && options.Preview.Length > 0 && (measured[1] <= told.Length || measured[1] > r.Limits.Duration) {
		t.Errorf("measured an audio of %v for a preview of %v", measured[1], told.Length)
	}
	wantFiles(t, dir, map[bool]int{true: 1, false: 0}[err == nil])
	return output, told, err
}

// wantFiles checks how many files are left in a folder.
func wantFiles(t testing.TB, dir string, want int) {
	t.Helper()
	if left, _ := os.ReadDir(dir); len(left) != want {
		t.Errorf("files left: %v, want %d", left, want)
	}
}

// numbers reads the output's two numbers in each frame: the source's and the
// painted one.
func numbers(t testing.TB, path string) (source, painted []int, info *medium.Info) {
	t.Helper()
	info, all := ffmpegtest.FramesBy(t, mediaOf(t, path), path)
	for _, frame := range all {
		source = append(source, ffmpegtest.Number(frame, 0))
		painted = append(painted, ffmpegtest.Number(frame, paintedAt))
	}
	return source, painted, info
}

func TestRenderKeepsFramesInStep(t *testing.T) {
	const rate = "25"
	video := numbered(t, rate, 60)
	for _, test := range []struct {
		name, seconds string
		frames        int
	}{
		{"audio shorter", "1.01", 26},
		{"audio as long", "2.4", 60},
		{"audio longer", "7.3", 183},
		{"a fifth of a second", "0.2", 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			output, err := render(t, inMemory(t, &numberer{}), video, tone(t, test.seconds))
			if err != nil {
				t.Fatal(err)
			}
			source, painted, _ := numbers(t, output)
			if len(source) != test.frames {
				t.Fatalf("%d frames, want %d", len(source), test.frames)
			}
			line := footage.NewTimeline(order.Bounce, 60, test.frames, nil)
			for i := range source {
				if source[i] != line.Source(i) || painted[i] != i {
					t.Fatalf("frame %d shows source %d painted %d, want %d and %d", i, source[i], painted[i], line.Source(i), i)
				}
			}
		})
	}
}

package render

import (
	"context"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/face"
	"lipsync/internal/ffmpeg"
	"lipsync/internal/ffmpeg/ffmpegtest"
)

// numberer is an engine that paints each output frame's number below the
// source's own, and checks that it is called as the port promises.
type numberer struct {
	observed []int // numbers in the frames, in order
	plan     Plan
}

const paintedAt = 48 // row of the painted number

func (e *numberer) Begin(Video) (Session, error) { return e, nil }

func (e *numberer) Workers() int { return 3 }

func (e *numberer) Observe(index int, frame *image.YCbCr, faces []face.Face) error {
	if index != len(e.observed) {
		return fmt.Errorf("observed frame %d after %d frames", index, len(e.observed))
	}
	e.observed = append(e.observed, ffmpegtest.Number(frame, 0))
	return nil
}

func (e *numberer) Plan(_ context.Context, p Plan) error {
	e.plan = p
	return nil
}

func (e *numberer) Mouths(_ context.Context, output int, frame *image.YCbCr) ([]Mouth, error) {
	got, want := ffmpegtest.Number(frame, 0), e.observed[e.plan.Source(output)]
	if got != want {
		return nil, fmt.Errorf("output %d shows source frame %d, want %d", output, got, want)
	}
	if e.plan.Speaker(e.plan.Source(output)) < 0 {
		return nil, nil
	}
	r := image.Rect(0, paintedAt, ffmpegtest.Width, paintedAt+16)
	m := Mouth{Image: image.NewYCbCr(r, image.YCbCrSubsampleRatio420), Mask: image.NewAlpha(r)}
	for i := range m.Mask.Pix {
		m.Mask.Pix[i] = 255
	}
	for i := range m.Image.Cb {
		m.Image.Cb[i], m.Image.Cr[i] = 128, 128
	}
	ffmpegtest.Draw(m.Image, paintedAt, output)
	return []Mouth{m}, nil
}

// fixedTracker sees one face, always at the same place.
type fixedTracker struct{ frames int }

func (f *fixedTracker) Add(context.Context, *image.YCbCr) ([]face.Face, bool, error) {
	f.frames++
	return []face.Face{{Box: face.Box{X: 80, Y: 48, Size: 60}}}, f.frames == 1, nil
}

func newRenderer(t testing.TB, engine Engine) *Renderer {
	return &Renderer{
		Tools: ffmpegtest.Tools(t), Engines: map[string]Engine{"": engine}, Limits: DefaultLimits(),
		NewTracker: func() (Tracker, error) { return &fixedTracker{}, nil },
	}
}

// sound makes a tone of a length in seconds.
func sound(t testing.TB, name, seconds string, args ...string) string {
	return ffmpegtest.Make(t, name, append([]string{"-f", "lavfi", "-i", "sine=f=300:d=" + seconds}, args...)...)
}

// render renders a job and returns the path of its output.
func render(t testing.TB, r *Renderer, video, audio string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	output := filepath.Join(dir, "out put.mp4")
	told := time.Duration(-1)
	err := r.Render(t.Context(), Job{Video: video, Audio: audio, Output: output, Scratch: dir,
		Rendered: func(length time.Duration) { told = length }})
	if (told > 0) != (err == nil) {
		t.Errorf("told of an output of %v, with error %v", told, err)
	}
	left, _ := os.ReadDir(dir)
	if want := map[bool]int{true: 1, false: 0}[err == nil]; len(left) != want {
		t.Errorf("files left: %v, want %d", left, want)
	}
	return output, err
}

// numbers reads the output's two numbers in each frame: the source's and the
// painted one.
func numbers(t testing.TB, path string) (source, painted []int, info *ffmpeg.Info) {
	t.Helper()
	tools := ffmpegtest.Tools(t)
	info, err := tools.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := tools.OpenFrames(t.Context(), info, 10000)
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	frame := info.Video.NewFrame()
	for {
		if err := frames.Read(frame); err == io.EOF {
			return source, painted, info
		} else if err != nil {
			t.Fatal(err)
		}
		source = append(source, ffmpegtest.Number(frame, 0))
		painted = append(painted, ffmpegtest.Number(frame, paintedAt))
	}
}

func TestRenderKeepsFramesInStep(t *testing.T) {
	const rate = "25"
	video := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered(rate, 60))
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
			output, err := render(t, newRenderer(t, &numberer{}), video, sound(t, "a.wav", test.seconds))
			if err != nil {
				t.Fatal(err)
			}
			source, painted, _ := numbers(t, output)
			if len(source) != test.frames {
				t.Fatalf("%d frames, want %d", len(source), test.frames)
			}
			line := timeline{60, test.frames}
			for i := range source {
				if source[i] != line.at(i) || painted[i] != i {
					t.Fatalf("frame %d shows source %d painted %d, want %d and %d", i, source[i], painted[i], line.at(i), i)
				}
			}
		})
	}
}

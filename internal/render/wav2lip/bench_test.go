package wav2lip

import (
	"fmt"
	"image"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/network/batch"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/intake"
	"lipsync/internal/render/neural"
	"lipsync/internal/render/people"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/neuraltest"
	"lipsync/internal/test/onnxtest"
	"lipsync/internal/test/sharedtest"
	"lipsync/internal/test/tracktest"
)

// The benchmarks of make bench-neural: of a full-size network, named by
// LIPSYNC_WAV2LIP, on a clip of a face of 512 × 512 pixels.

func loadFull(b *testing.B) *onnx.Session {
	b.Helper()
	path := os.Getenv("LIPSYNC_WAV2LIP")
	if path == "" {
		b.Skip("LIPSYNC_WAV2LIP names no network: run make bench-neural")
	}
	return onnxtest.LoadWith(b, path, onnx.Options{Threads: Threads()})
}

// rest lets the process give back unused memory, and the system measure the peak of its
// memory from now on. Memory that other benchmarks left in use still counts.
func rest() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // only on Linux
}

// peak returns the largest memory that the process had since rest, in MiB, or 0 if it
// can't be known.
func peak() float64 {
	status, _ := os.ReadFile("/proc/self/status") // only on Linux
	var kB float64
	if _, value, ok := strings.Cut(string(status), "VmHWM:"); ok {
		fmt.Sscan(value, &kB)
	}
	return kB / 1024
}

// report reports frames a second, and the largest memory that the process had since
// rest.
func report(b *testing.B, frames int) {
	b.ReportMetric(float64(frames)/b.Elapsed().Seconds(), "frames/s")
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(peak(), "peak-MiB")
}

// BenchmarkNetwork runs the network by itself, as often at once as an engine does.
func BenchmarkNetwork(b *testing.B) {
	s := loadFull(b)
	for _, most := range []int{1, 2, 4, 8, 16} {
		b.Run(fmt.Sprintf("batch=%d", most), func(b *testing.B) {
			m, err := newModel(s, most)
			if err != nil {
				b.Fatal(err)
			}
			all := make([]batch.Binding, batch.Runs(s))
			for i := range all {
				if all[i], err = m.Bind(b.Context(), most); err != nil {
					b.Fatal(err)
				}
				defer all[i].Close()
			}
			rest()
			n := 0
			for b.Loop() {
				g, ctx := errgroup.WithContext(b.Context())
				for _, bound := range all {
					g.Go(func() error { return bound.Run(ctx) })
				}
				if err := g.Wait(); err != nil {
					b.Fatal(err)
				}
				n += len(all) * most
			}
			report(b, n)
		})
	}
}

// clipFrames is a clip in memory.
type clipFrames struct {
	tools  *ffmpeg.Tools
	path   string
	info   *medium.Info
	frames []*image.YCbCr
	faces  []alignment.Frame
}

// readClip reads the clip.
func readClip(b *testing.B) *clipFrames {
	b.Helper()
	f := &clipFrames{tools: ffmpegtest.Tools(b), path: sharedtest.Path(b, "media", "talking_man.mp4")}
	var err error
	if f.info, err = f.tools.Probe(b.Context(), f.path); err != nil {
		b.Fatal(err)
	}
	decoder, err := f.tools.OpenFrames(b.Context(), f.info, 1000)
	if err != nil {
		b.Fatal(err)
	}
	defer decoder.Close()
	for {
		frame := f.info.Video.NewFrame()
		if err := decoder.Read(frame); err == io.EOF {
			return f
		} else if err != nil {
			b.Fatal(err)
		}
		f.frames = append(f.frames, frame)
	}
}

// track finds and aligns the faces.
func (f *clipFrames) track(b *testing.B) {
	b.Helper()
	detector, err := detection.New(b.Context(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	fps := f.info.Video.Rate.Float()
	tracker, aligner := tracking.NewTracker(detector, fps), alignment.NewAligner(fps)
	f.faces = nil
	for _, frame := range f.frames {
		faces, cut, err := tracktest.Add(b.Context(), tracker, frame)
		if err != nil {
			b.Fatal(err)
		}
		f.faces = append(f.faces, aligner.Add(faces, cut)...)
	}
	f.faces = append(f.faces, aligner.End()...)
}

// analyse lets the engine analyse the clip and plan it for a tone.
func (f *clipFrames) analyse(b *testing.B, e *neural.Engine) engine.Painter {
	b.Helper()
	a, err := e.Analyse(engine.Video{Width: f.info.Video.Width, Height: f.info.Video.Height, FPS: f.info.Video.Rate.Float()})
	if err != nil {
		b.Fatal(err)
	}
	neuraltest.AddAll(b, a, f.faces)
	p, err := a.Plan(b.Context(), engine.Output{
		Frames: len(f.frames), Source: func(output int) int { return output },
		Samples: neuraltest.PCM(neuraltest.Tone(len(f.frames) * 16000 / 25)),
		Speaker: func(source int) int {
			if len(f.faces[source].Faces) == 0 {
				return -1
			}
			return f.faces[source].Faces[0].Track
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// mouths makes all mouths of the clip, as many at once as the engine wants.
func (f *clipFrames) mouths(b *testing.B, e *neural.Engine, p engine.Painter) {
	b.Helper()
	var all errgroup.Group
	all.SetLimit(e.Workers())
	for i, frame := range f.frames {
		all.Go(func() error {
			mouths, err := p.Paint(b.Context(), i, frame)
			for _, m := range mouths {
				m.Release()
			}
			return err
		})
	}
	if err := all.Wait(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkStages runs the stages of a job one after the other, each with all its cores,
// and then a job, to compare the job with the slowest stage. The stage of mouths without the
// network cuts faces out, computes their sound and puts them back.
func BenchmarkStages(b *testing.B) {
	f := readClip(b)
	f.track(b)
	bare := newTestEngine(b, 96, 16, neuraltest.AsItIs)
	p := f.analyse(b, bare)
	slowest := math.Inf(1) // frames a second
	stage := func(name string, do func(b *testing.B)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			rest()
			n := 0
			for b.Loop() {
				do(b)
				n += len(f.frames)
			}
			report(b, n)
			slowest = min(slowest, float64(n)/b.Elapsed().Seconds())
		})
	}
	stage("decode", func(b *testing.B) { readClip(b) })
	stage("track", f.track)
	stage("analyse", func(b *testing.B) { f.analyse(b, bare) })
	stage("mouths-without-network", func(b *testing.B) { f.mouths(b, bare, p) })
	stage("encode", func(b *testing.B) {
		wav := ffmpegtest.Make(b, "a.wav", "-f", "lavfi", "-i", "sine=d=8")
		encoder, err := f.tools.Encode(b.Context(), f.info.Video, order.Output{}, wav, filepath.Join(b.TempDir(), "o.mp4"))
		if err != nil {
			b.Fatal(err)
		}
		for _, frame := range f.frames {
			if err := encoder.Write(frame); err != nil {
				b.Fatal(err)
			}
		}
		if err := encoder.Finish(); err != nil {
			b.Fatal(err)
		}
	})
	session := loadFull(b)
	full, err := New(b.Context(), session, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer full.Close()
	p = f.analyse(b, full)
	stage("mouths", func(b *testing.B) { f.mouths(b, full, p) })
	b.Run("job", func(b *testing.B) {
		frames := jobs(b, full)
		b.ReportMetric(float64(frames)/b.Elapsed().Seconds()/slowest, "of-slowest-stage")
	})
}

// BenchmarkJob runs whole jobs, for several sizes of batch.
func BenchmarkJob(b *testing.B) {
	session := loadFull(b)
	for _, batch := range []int{1, 4, 8, 16} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			jobs(b, startONNX(b, session, batch))
		})
	}
}

// jobs runs whole jobs, reports, and returns the number of frames that they made.
func jobs(b *testing.B, e *neural.Engine) (frames int) {
	detector, err := detection.New(b.Context(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	r := &render.Renderer{Media: ffmpegtest.Tools(b), Engines: map[string]engine.Engine{"wav2lip": e}, Limits: intake.DefaultLimits(),
		NewTracker: func(fps float64) people.Tracker { return tracking.NewTracker(detector, fps) }}
	video, audio := sharedtest.Path(b, "media", "talking_man.mp4"), sharedtest.Path(b, "media", "speech.wav")
	rest()
	for b.Loop() {
		dir := b.TempDir()
		job := render.Job{Video: video, Audio: audio, Output: filepath.Join(dir, "out.mp4"), Scratch: dir, Engine: "wav2lip"}
		made, err := r.Render(b.Context(), job, nil)
		if err != nil {
			b.Fatal(err)
		}
		frames += made.Frames.Total
	}
	report(b, frames)
	return frames
}

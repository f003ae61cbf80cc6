package engines_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/network/catalog"
	"lipsync/internal/render"
	"lipsync/internal/render/engines"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/onnxtest"
)

// neural sets rendering up with all networks, and trivial ones that paint.
func neural(b *testing.B) *engines.Set {
	b.Helper()
	folder := b.TempDir()
	addAll(b, folder)
	add(b, folder, catalog.Wav2Lip, onnxtest.AsItIs().File(b))
	addGrey(b, folder)
	s, _ := open(b, folder)
	s.Limits.Duration = 3 * time.Hour
	return s
}

// resident returns the memory of this process, in MiB. The memory of its children has
// bounds of its own.
func resident(b *testing.B) (mib float64) {
	status, err := os.ReadFile("/proc/self/status")
	_, rss, ok := strings.Cut(string(status), "VmRSS:")
	if err != nil || !ok {
		b.Skip("the system doesn't tell a process's memory in /proc")
	}
	_, _ = fmt.Sscan(rss, &mib)
	return mib / 1024
}

// How much more memory the last tenth of a benchmark may take than the second, in
// MiB: some hundred bytes for each of 72 000 frames, and as much again for garbage;
// and less than 0.1 MiB for each of 160 jobs.
const moreInTwoHours, moreInJobs = 48, 16

// tenths has the largest use of memory in the second and in the last tenth of a
// benchmark, in MiB. In the first one networks are loaded, which takes more for a moment.
type tenths struct{ second, last float64 }

// add measures the memory when so much of the total is done.
func (t *tenths) add(b *testing.B, done, total int) {
	switch {
	case done <= total/10:
	case done <= total/5:
		t.second = max(t.second, resident(b))
	case done > total*9/10:
		t.last = max(t.last, resident(b))
	}
}

// report fails the benchmark if memory grew by more than allowed.
func (t *tenths) report(b *testing.B, what string, more float64) {
	b.ReportMetric(t.second, "second-"+what+"-MiB")
	b.ReportMetric(t.last, "last-"+what+"-MiB")
	if t.second == 0 || t.last > t.second+more {
		b.Errorf("%s: %.0f MiB in the last tenth, %.0f in the second, want at most %.0f more", what, t.last, t.second, more)
	}
}

// noMoreGoroutines fails the benchmark if there are more goroutines than before.
func noMoreGoroutines(b *testing.B, before int) {
	for range 1000 { // for those that are about to end
		runtime.Gosched()
	}
	if after := runtime.NumGoroutine(); after > before {
		b.Errorf("%d goroutines, %d before", after, before)
	}
}

// BenchmarkTwoHours renders two hours of two people, small and at 10 frames a
// second, by each engine with networks. It fails when memory grows in either pass.
func BenchmarkTwoHours(b *testing.B) {
	s := neural(b)
	source := filepath.Join(onnxtest.Models(b), "..", "media", "two_people.mp4")
	short := ffmpegtest.Make(b, "short.mp4", "-i", source, "-vf", "scale=256:128,fps=10", "-c:a", "aac")
	long := ffmpegtest.Make(b, "long.mp4", "-stream_loop", "-1", "-i", short, "-t", "7200", "-c", "copy")
	for _, engine := range []string{"wav2lip", "musetalk"} {
		b.Run(engine, func(b *testing.B) {
			goroutines := runtime.NumGoroutine()
			for b.Loop() {
				memory, scratch := map[order.Stage]*tenths{order.Analyzing: {}, order.Rendering: {}}, b.TempDir()
				_, err := s.Render(b.Context(), render.Job{
					Video: long, Audio: long, Output: filepath.Join(scratch, "out.mp4"), Scratch: scratch, Engine: engine,
				}, render.ProgressFunc(func(p render.Progress) { memory[p.Stage].add(b, p.Done, p.Total) }))
				if err != nil {
					b.Fatal(err)
				}
				for stage, m := range memory {
					m.report(b, string(stage), moreInTwoHours)
				}
			}
			noMoreGoroutines(b, goroutines)
		})
	}
}

// BenchmarkJobs renders 200 videos of 20 lengths up to 4 s, by each engine in
// turn. It fails when memory or goroutines grow.
func BenchmarkJobs(b *testing.B) {
	s := neural(b)
	source := filepath.Join(onnxtest.Models(b), "..", "media", "two_people.mp4")
	var clips [20]string
	for i := range clips {
		seconds := fmt.Sprint(.2 * float64(i+1))
		clips[i] = ffmpegtest.Make(b, "short.mp4", "-t", seconds, "-i", source, "-vf", "scale=256:128,fps=10", "-c:a", "aac")
	}
	goroutines := runtime.NumGoroutine()
	for b.Loop() {
		var memory tenths
		for i := range 200 {
			short, scratch := clips[i%len(clips)], b.TempDir()
			_, err := s.Render(b.Context(), render.Job{
				Video: short, Audio: short, Output: filepath.Join(scratch, "out.mp4"), Scratch: scratch, Engine: []string{"wav2lip", "warp", "musetalk"}[i%3],
			}, nil)
			if err != nil {
				b.Fatal(err)
			}
			memory.add(b, i+1, 200)
		}
		memory.report(b, "jobs", moreInJobs)
	}
	noMoreGoroutines(b, goroutines)
}

// proving is Media that measures how long the self-check of outputs takes.
type proving struct {
	render.Media
	took time.Duration
}

func (p *proving) Prove(ctx context.Context, v *medium.Video, o order.Output, want ffmpeg.Proof, path string) error {
	began := time.Now()
	defer func() { p.took += time.Since(began) }()
	return p.Media.Prove(ctx, v, o, want, path)
}

// BenchmarkProve renders a minute by the engine warp, and reports the share of the time that the self-check of the output takes. It fails above
// 2 %.
func BenchmarkProve(b *testing.B) {
	s := neural(b)
	source := filepath.Join(onnxtest.Models(b), "..", "media", "woman.mp4")
	minute := ffmpegtest.Make(b, "minute.mp4", "-stream_loop", "-1", "-i", source, "-t", "60", "-c:v", "libx264", "-c:a", "aac")
	measured := &proving{Media: s.Media}
	s.Media = measured
	for b.Loop() {
		scratch := b.TempDir()
		_, err := s.Render(b.Context(), render.Job{Video: minute, Audio: minute, Output: filepath.Join(scratch, "out.mp4"), Scratch: scratch, Engine: "warp"}, nil)
		if err != nil {
			b.Fatal(err)
		}
	}
	share := 100 * measured.took.Seconds() / b.Elapsed().Seconds()
	b.ReportMetric(share, "%-of-job")
	if share > 2 {
		b.Errorf("the self-check takes %.1f %% of a job, want 2 at most", share)
	}
}

package main

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/render"
	"lipsync/internal/render/intake"
	"lipsync/internal/render/measure"
)

// sampleOf makes a sample video, with a height in pixels and a length in seconds, and speech of the
// same length.
func sampleOf(b *testing.B, height, seconds int) (video, audio string) {
	b.Helper()
	video, audio, err := measure.Sample(b.Context(), b.TempDir(), height, seconds)
	if err != nil {
		b.Fatal(err)
	}
	return video, audio
}

// sampleSeconds is the length of the jobs that are measured.
const sampleSeconds = 12

// BenchmarkJob measures whole jobs, and each of their stages by itself on all cores.
func BenchmarkJob(b *testing.B) {
	for _, height := range []int{720, 1080} {
		b.Run(fmt.Sprintf("%dp", height), func(b *testing.B) {
			video, audio := sampleOf(b, height, sampleSeconds)
			renderer, err := renderFlags{}.open(b.Context(), runtime.NumCPU(), intake.DefaultLimits(), slog.New(slog.DiscardHandler))
			if err != nil {
				b.Fatal(err)
			}
			var job, busy time.Duration
			for b.Loop() {
				started, before := time.Now(), cpuTime(b)
				scratch := b.TempDir()
				if _, err := renderer.Render(b.Context(), render.Job{
					Video: video, Audio: audio, Output: filepath.Join(scratch, "out.mp4"), Scratch: scratch, Engine: "warp",
				}, nil); err != nil {
					b.Fatal(err)
				}
				job, busy = time.Since(started), cpuTime(b)-before
			}
			times, err := measure.Stages(b.Context(), renderer.Renderer, "warp", video, audio, b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(times.Rate(job), "job-frames/s")
			for name, took := range times.Took {
				b.ReportMetric(times.Rate(took), name+"-frames/s")
			}
			b.ReportMetric(job.Seconds()/times.Slowest().Seconds(), "job/slowest-stage")
			// At 100 the stages can't overlap more: only less work would make the job faster.
			b.ReportMetric(100*busy.Seconds()/job.Seconds()/float64(runtime.NumCPU()), "job-%-of-cores")
		})
	}
}

// cpuTime returns the processor time of this process and of the children that it waited for, on
// all cores together.
func cpuTime(b *testing.B) (total time.Duration) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err != nil {
			b.Fatal(err)
		}
		total += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return total
}

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/render/measure"
)

// BenchmarkMemory syncs a short and a long video, and reports the largest memory that all processes
// together had at a time.
func BenchmarkMemory(b *testing.B) {
	for _, seconds := range []int{10, 180} {
		b.Run(fmt.Sprintf("1080p/%ds", seconds), func(b *testing.B) {
			video, audio := sampleOf(b, 1080, seconds)
			for b.Loop() {
				c := exec.CommandContext(b.Context(), fixtures.program, "sync", video, audio, "-o", filepath.Join(b.TempDir(), "out.mp4"))
				if err := c.Start(); err != nil {
					b.Fatal(err)
				}
				done := make(chan error, 1)
				go func() { done <- c.Wait() }()
				peak, err := watch(c.Process.Pid, done)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(peak)/1e6, "peak-MB")
			}
		})
	}
}

// watch samples the memory of a process and its descendants until done, and returns the largest
// sample in bytes.
func watch(pid int, done <-chan error) (peak int64, err error) {
	for {
		peak = max(peak, measure.Memory(pid))
		select {
		case err := <-done:
			return peak, err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

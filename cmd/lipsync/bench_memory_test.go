package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkMemory syncs a short and a long video, and reports the most memory
// that all processes held at a time.
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

// watch samples the memory of a process and its descendants until done, and
// returns the most that it saw, in bytes.
func watch(pid int, done <-chan error) (peak int64, err error) {
	for {
		peak = max(peak, memory(pid))
		select {
		case err := <-done:
			return peak, err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// memory is the proportional set size of a process and its descendants: what
// they share counts once. A process that is gone counts as nothing.
func memory(pid int) int64 {
	rollup, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	var total int64
	for line := range strings.Lines(string(rollup)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "Pss:" {
			kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
			total = kilobytes << 10
		}
	}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		children, _ := os.ReadFile(task)
		for _, child := range strings.Fields(string(children)) {
			if n, err := strconv.Atoi(child); err == nil {
				total += memory(n)
			}
		}
	}
	return total
}

package studio_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lipsync/internal/ffmpeg/ffmpegtest"
	"lipsync/internal/onnx"
	"lipsync/internal/onnx/onnxtest"
	"lipsync/internal/render"
	"lipsync/internal/studio"
)

// neural sets rendering up with all networks, and a trivial one that paints.
func neural(b *testing.B) *studio.Studio {
	b.Helper()
	folder := b.TempDir()
	addAll(b, folder)
	add(b, folder, onnx.Wav2Lip, write(b, onnxtest.AsItIs()))
	s, _ := open(b, folder)
	s.Limits.Duration = 3 * time.Hour
	return s
}

// resident is the memory of this process, in MiB; the children's is bounded by
// themselves.
func resident(b *testing.B) (mib float64) {
	status, err := os.ReadFile("/proc/self/status")
	_, rss, ok := strings.Cut(string(status), "VmRSS:")
	if err != nil || !ok {
		b.Skip("the system doesn't tell a process's memory in /proc")
	}
	_, _ = fmt.Sscan(rss, &mib)
	return mib / 1024
}

// BenchmarkTwoHours renders two hours of two people, small and at 10 frames a
// second, and tells the most memory in the first and in the last tenth of each pass.
func BenchmarkTwoHours(b *testing.B) {
	s := neural(b)
	source := filepath.Join(onnxtest.Models(b), "..", "media", "two_people.mp4")
	short := ffmpegtest.Make(b, "short.mp4", "-i", source, "-vf", "scale=256:128,fps=10", "-c:a", "aac")
	long := ffmpegtest.Make(b, "long.mp4", "-stream_loop", "-1", "-i", short, "-t", "7200", "-c", "copy")
	for b.Loop() {
		early, late, scratch := map[string]float64{}, map[string]float64{}, b.TempDir()
		err := s.Render(b.Context(), render.Job{
			Video: long, Audio: long, Output: filepath.Join(scratch, "out.mp4"), Scratch: scratch, Engine: "wav2lip",
			Progress: func(p render.Progress) {
				switch {
				case p.Done < p.Total/10:
					early[p.Stage] = max(early[p.Stage], resident(b))
				case p.Done > p.Total*9/10:
					late[p.Stage] = max(late[p.Stage], resident(b))
				}
			},
		})
		if err != nil {
			b.Fatal(err)
		}
		for stage := range late {
			b.ReportMetric(early[stage], "first-"+stage+"-MiB")
			b.ReportMetric(late[stage], "last-"+stage+"-MiB")
		}
	}
}

// BenchmarkJobs renders 200 videos of 20 lengths up to 4 s, and tells the memory
// after the twentieth and after the last.
func BenchmarkJobs(b *testing.B) {
	s := neural(b)
	source := filepath.Join(onnxtest.Models(b), "..", "media", "two_people.mp4")
	var clips [20]string
	for i := range clips {
		seconds := fmt.Sprint(.2 * float64(i+1))
		clips[i] = ffmpegtest.Make(b, "short.mp4", "-t", seconds, "-i", source, "-vf", "scale=256:128,fps=10", "-c:a", "aac")
	}
	for b.Loop() {
		for i := range 200 {
			short, scratch := clips[i%len(clips)], b.TempDir()
			err := s.Render(b.Context(), render.Job{
				Video: short, Audio: short, Output: filepath.Join(scratch, "out.mp4"), Scratch: scratch, Engine: []string{"wav2lip", "warp"}[i%2],
			})
			if err != nil {
				b.Fatal(err)
			}
			if i == 19 {
				b.ReportMetric(resident(b), "after-20-MiB")
			}
		}
		b.ReportMetric(resident(b), "after-200-MiB")
	}
}

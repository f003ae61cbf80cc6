package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
)

// rounds is the number of measurements of a transcode, and of a job. They take turns.
const rounds = 3

// BenchmarkJobOverTranscode measures whole jobs, and plain transcodes of the
// same video and speech with the same encoder settings. All figures are medians.
func BenchmarkJobOverTranscode(b *testing.B) {
	pictures, speech := footages(b)
	for _, height := range []int{720, 1080} {
		for _, fps := range []int{25, 60} {
			for _, f := range pictures {
				b.Run(fmt.Sprintf("%dp%d/%s", height, fps, f.name), func(b *testing.B) {
					newClip(b, height, fps, shortClip, f.path, speech).compare(b)
				})
			}
		}
	}
	b.Run("720p25-long/"+pictures[0].name, func(b *testing.B) {
		newClip(b, 720, 25, longClip, pictures[0].path, speech).compare(b)
	})
}

// compare transcodes and syncs the clip in turns, and reports the times of both.
func (c *clip) compare(b *testing.B) {
	b.Helper()
	dir := b.TempDir()
	transcoded, synced := filepath.Join(dir, "transcoded.mp4"), filepath.Join(dir, "synced.mp4")
	sync := []string{"sync", c.video, c.audio, "-o", synced}
	new(costs).add(b, fixtures.program, sync...)
	transcodeArgs := c.transcodeArgs(b, crfOf(b, synced), transcoded)
	var transcode, job costs
	for b.Loop() {
		for range rounds {
			transcode.add(b, "ffmpeg", transcodeArgs...)
			job.add(b, fixtures.program, sync...)
		}
	}
	if got, want := encoding(b, synced), encoding(b, transcoded); got != want {
		b.Fatalf("the job's encoder has the settings\n%s\nthe transcode's\n%s", got, want)
	}
	perFrame := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(c.frames) }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(median(job.cpu))/float64(median(transcode.cpu)), "cpu-job/transcode")
	b.ReportMetric(float64(median(job.wall))/float64(median(transcode.wall)), "wall-job/transcode")
	b.ReportMetric(perFrame(median(job.cpu)), "job-cpu-ms/frame")
	b.ReportMetric(perFrame(median(transcode.cpu)), "transcode-cpu-ms/frame")
}

// transcodeArgs are the arguments of an ffmpeg that decodes and encodes the clip
// with as many threads and the same settings as a job does, which chose the crf.
func (c *clip) transcodeArgs(b *testing.B, crf int, output string) []string {
	b.Helper()
	tools, err := ffmpeg.Find(runtime.GOMAXPROCS(0))
	if err != nil {
		b.Fatal(err)
	}
	video, err := tools.Probe(b.Context(), c.video)
	if err != nil {
		b.Fatal(err)
	}
	audio, err := tools.Probe(b.Context(), c.audio)
	if err != nil {
		b.Fatal(err)
	}
	video.Video.CRF = crf
	return slices.Concat(
		[]string{"-v", "error", "-nostdin", "-y", "-threads", strconv.Itoa(tools.Threads), "-i", c.video, "-i", c.audio, "-map", "0:v", "-map", "1:a"},
		tools.EncoderArgs(video.Video, order.Output{}), ffmpeg.SoundArgs(audio.Audio), []string{"-movflags", "+faststart", output})
}

// costs has the times of a program's runs: the processor time with its child processes, and the
// time from start to end.
type costs struct{ cpu, wall []time.Duration }

// add runs a program to its end.
func (c *costs) add(b *testing.B, program string, args ...string) {
	b.Helper()
	p := exec.CommandContext(b.Context(), program, args...)
	started := time.Now()
	if out, err := p.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v: %s", program, err, out)
	}
	c.wall = append(c.wall, time.Since(started))
	// The kernel adds the children that the program waited for.
	c.cpu = append(c.cpu, p.ProcessState.UserTime()+p.ProcessState.SystemTime())
}

// encoding returns the settings that libx264 writes into the file that it makes.
func encoding(b *testing.B, path string) string {
	b.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	_, rest, found := bytes.Cut(file, []byte("x264 - core"))
	text, _, ended := bytes.Cut(rest, []byte{0})
	if !found || !ended {
		b.Fatalf("%s does not say how it was encoded", path)
	}
	return string(text)
}

// crfOf returns the crf of the file that a job made. Jobs choose it by the bits of their source.
func crfOf(b *testing.B, path string) int {
	b.Helper()
	settings := encoding(b, path)
	_, rest, _ := strings.Cut(settings, " crf=")
	text, _, _ := strings.Cut(rest, " ")
	crf, err := strconv.ParseFloat(text, 64)
	if err != nil {
		b.Fatalf("no crf in %s", settings)
	}
	return int(crf)
}

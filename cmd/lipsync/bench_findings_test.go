package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"lipsync/internal/network/catalog"
	"lipsync/internal/render"
	"lipsync/internal/render/engines"
	"lipsync/internal/render/intake"
	"lipsync/internal/test/onnxtest"
)

// folder is a render.Findings.
type folder string

func (f folder) Open(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(string(f), name))
}

func (f folder) Keep(_ context.Context, name string, r io.Reader) error {
	file, err := os.Create(filepath.Join(string(f), name))
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(file, r)
	return err
}

// BenchmarkSecondAudio measures jobs with a video whose findings an earlier job kept, over jobs that keep them. The network of wav2lip paints
// grey at once, so the mouths take hardly any time.
func BenchmarkSecondAudio(b *testing.B) {
	pictures, speech := footages(b)
	for _, frames := range []int{shortClip, 5 * shortClip} {
		for _, f := range pictures {
			c := newClip(b, 720, 25, frames, f.path, speech)
			for _, networks := range []bool{false, true} {
				for _, engine := range []string{"warp", "wav2lip"} {
					name := map[bool]string{false: "built in", true: "networks"}[networks] + "/" + engine
					b.Run((time.Duration(frames/25)*time.Second).String()+"/"+f.name+"/"+name, func(b *testing.B) { c.reuse(b, engine, networks) })
				}
			}
		}
	}
}

func (c *clip) reuse(b *testing.B, engine string, networks bool) {
	b.Helper()
	models, kept := b.TempDir(), folder(b.TempDir())
	files := map[catalog.Role]string{catalog.Wav2Lip: onnxtest.Grey().File(b)}
	if networks {
		for role, name := range map[catalog.Role]string{
			catalog.FaceDetector: "ultraface_rfb_320.onnx", catalog.FaceLandmarks: "facemesh_192.onnx", catalog.ActiveSpeaker: "light_asd.onnx",
		} {
			files[role] = filepath.Join(onnxtest.Models(b), name)
		}
	}
	for role, file := range files {
		if _, err := catalog.Add(models, catalog.Model{Role: role}, file); err != nil {
			b.Fatal(err)
		}
	}
	set, err := engines.Open(b.Context(), engines.Options{
		Limits: intake.DefaultLimits(), Cores: runtime.NumCPU(), Models: models, Library: onnxtest.Library(b), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer set.Close()
	var first, second costs
	job := func(to *costs) {
		scratch := b.TempDir()
		started, before := time.Now(), cpuTime(b)
		if _, err := set.Render(b.Context(), render.Job{
			Video: c.video, Audio: c.audio, Output: filepath.Join(scratch, "out.mp4"), Scratch: scratch, Engine: engine, Findings: kept,
		}, nil); err != nil {
			b.Fatal(err)
		}
		to.cpu, to.wall = append(to.cpu, cpuTime(b)-before), append(to.wall, time.Since(started))
	}
	var size int64
	for b.Loop() {
		for range rounds {
			files, err := os.ReadDir(string(kept))
			if err != nil {
				b.Fatal(err)
			}
			for _, f := range files {
				if err := os.Remove(filepath.Join(string(kept), f.Name())); err != nil {
					b.Fatal(err)
				}
			}
			job(&first)
			job(&second)
		}
		files, err := os.ReadDir(string(kept))
		if err != nil || len(files) != 1 {
			b.Fatalf("%d findings (%v), want 1", len(files), err)
		}
		info, err := files[0].Info()
		if err != nil {
			b.Fatal(err)
		}
		size = info.Size()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(median(second.cpu))/float64(median(first.cpu)), "cpu-second/first")
	b.ReportMetric(float64(median(second.wall))/float64(median(first.wall)), "wall-second/first")
	b.ReportMetric(median(first.cpu).Seconds(), "first-cpu-s")
	b.ReportMetric(median(first.wall).Seconds(), "first-wall-s")
	b.ReportMetric(float64(size)/1e6, "findings-MB")
}

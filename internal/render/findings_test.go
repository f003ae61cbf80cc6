package render

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/face/occlusion"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/signal/serial"
	"lipsync/internal/test/ffmpegtest"
)

// stalledFindings is a Findings that answers only when its context ends.
type stalledFindings struct{}

func (stalledFindings) Open(ctx context.Context, _ string) (io.ReadCloser, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (stalledFindings) Keep(ctx context.Context, _ string, _ io.Reader) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestStalledFindings reads findings from a store that doesn't answer, and keeps some in it. After a time it goes on without them.
func TestStalledFindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		video := &ffmpeg.Info{Video: &ffmpeg.Video{Width: 2, Height: 2, Rate: ffmpeg.Rate{Num: 25, Den: 1}}}
		w := &rendering{Renderer: &Renderer{Tools: &ffmpeg.Tools{}, Basis: "this program", Limits: DefaultLimits()}, job: Job{Findings: stalledFindings{}}, video: video}
		if a := w.recall(t.Context(), coded{}); a != nil || time.Since(began) != findingsTime {
			t.Errorf("found %v after %v, want nothing after %v", a, time.Since(began), findingsTime)
		}
		w.keep(t.Context(), &analysis{source: newSource(w), hidden: occlusion.New()}, coded{})
		if took := time.Since(began); took != 2*findingsTime {
			t.Errorf("took %v, want %v", took, 2*findingsTime)
		}
	})
}

// coded is an Analyser whose findings are empty.
type coded struct{ Analyser }

func (coded) Code(*serial.Coder) {}

// shown is an engine whose findings can be kept.
type shown struct{ numberer }

func (e *shown) Analyse(v Video) (Analyser, error) {
	_, err := e.numberer.Analyse(v)
	return e, err
}

func (e *shown) Code(c *serial.Coder) { serial.Slice(c, &e.seen, c.Int) }

// count counts the findings that are kept.
type count int

func (*count) Open(context.Context, string) (io.ReadCloser, error) { return nil, os.ErrNotExist }

func (n *count) Keep(_ context.Context, _ string, r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	*n++
	return err
}

// TestFindingsOfUnheardSound keeps the findings of videos with sound and without, and none if the sound can't be read.
func TestFindingsOfUnheardSound(t *testing.T) {
	silent := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20))
	heard := ffmpegtest.Make(t, "in.mkv", "-i", silent, "-f", "lavfi", "-i", "sine=d=0.8", "-c:v", "copy", "-c:a", "flac")
	tone, there := sound(t, "a.wav", "0.6"), ffmpegtest.Tools(t)
	deaf := filepath.Join(t.TempDir(), "ffmpeg")
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *in.mkv*-af*) exit 1;; esac\nexec %s \"$@\"\n", there.FFmpeg)
	if err := os.WriteFile(deaf, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		video, ffmpeg string
		kept          count
	}{
		"no sound": {silent, there.FFmpeg, 1}, "sound": {heard, there.FFmpeg, 1}, "unreadable sound": {heard, deaf, 0},
	} {
		var kept count
		j := Job{Video: c.video, Audio: tone, Scratch: t.TempDir(), Findings: &kept}
		j.Output = filepath.Join(j.Scratch, "out.mp4")
		r := newRenderer(t, &shown{})
		r.Tools = &ffmpeg.Tools{FFmpeg: c.ffmpeg, FFprobe: there.FFprobe, Threads: 1}
		if _, err := r.Render(t.Context(), j, nil); err != nil || kept != c.kept {
			t.Errorf("%s: kept %d findings (%v), want %d", name, kept, err, c.kept)
		}
	}
}

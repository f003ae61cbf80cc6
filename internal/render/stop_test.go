package render

import (
	"context"
	"errors"
	"image"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lipsync/internal/face/alignment"
	"lipsync/internal/render/engine"
	"lipsync/internal/test/ffmpegtest"
)

// hook is an engine that calls a function at one of its steps.
type hook struct {
	numberer
	add, plan, paint func() error
}

func (h *hook) Analyse(engine.Video) (engine.Analyser, error) { return h, nil }

func (h *hook) Workers() int { return 3 }

func (h *hook) Add(f alignment.Frame) error {
	return errors.Join(h.numberer.Add(f), call(h.add))
}

func (h *hook) Plan(ctx context.Context, out engine.Output) (engine.Painter, error) {
	_, err := h.numberer.Plan(ctx, out)
	return h, errors.Join(err, call(h.plan))
}

func (h *hook) Paint(ctx context.Context, output int, frame *image.YCbCr) ([]engine.Mouth, error) {
	m, err := h.numberer.Paint(ctx, output, frame)
	return m, errors.Join(err, call(h.paint))
}

func call(f func() error) error {
	if f == nil {
		return nil
	}
	return f()
}

// children returns the ids of this process's children.
func children(t *testing.T) []string {
	t.Helper()
	var ids []string
	files, _ := filepath.Glob("/proc/self/task/*/children")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		ids = append(ids, strings.Fields(string(b))...)
	}
	return ids
}

// TestStop ends jobs at each step, by an error, a panic and their context, and
// checks that no process, goroutine or file is left.
func TestStop(t *testing.T) {
	video := ffmpegtest.Make(t, "a.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 100), "-f", "lavfi", "-i", "sine=d=4")
	speech := sound(t, "a.wav", "8")
	for name, step := range map[string]func(*hook, func() error){
		"add":   func(h *hook, f func() error) { h.add = f },
		"plan":  func(h *hook, f func() error) { h.plan = f },
		"paint": func(h *hook, f func() error) { h.paint = f },
	} {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithCancel(t.Context())
			failing, panicking, cancelled := &hook{}, &hook{}, &hook{}
			step(failing, func() error { return errors.New("broken") })
			step(panicking, func() error { panic("odd") })
			step(cancelled, func() error { cancel(); return nil })
			for _, test := range []struct {
				engine *hook
				want   string
			}{{failing, "broken"}, {panicking, "panic: odd"}, {cancelled, "context canceled"}} {
				dir := t.TempDir()
				r := newRenderer(t, test.engine)
				_, err := r.Render(ctx, Job{Video: video, Audio: speech, Output: filepath.Join(dir, "o.mp4"), Scratch: dir}, nil)
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %s", err, test.want)
				}
				if left, _ := os.ReadDir(dir); len(left) > 0 {
					t.Errorf("files left: %v", left)
				}
				if ids := children(t); len(ids) > 0 {
					t.Errorf("processes left: %v", ids)
				}
			}
			for range 500 { // some end a moment later
				if runtime.NumGoroutine() <= before {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if after := runtime.NumGoroutine(); after > before {
				t.Errorf("%d goroutines, %d before", after, before)
			}
		})
	}
}

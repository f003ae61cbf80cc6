package engines_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/network/catalog"
	"lipsync/internal/render"
	"lipsync/internal/render/engines"
	"lipsync/internal/test/onnxtest"
	"lipsync/internal/test/optiontest"
)

// guarded is memory that jobs share.
type guarded struct {
	mutex sync.Mutex
	memory
}

func (g *guarded) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.memory.Open(ctx, name)
}

func (g *guarded) Keep(ctx context.Context, name string, r io.Reader) error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.memory.Keep(ctx, name, r)
}

// few renders an option of each kind that reaches an engine which paints as wav2lip does: frames in another order and a still one, frames without a face,
// a choice of faces, masks, and silence between segments.
func few(t *testing.T, m optiontest.Media, render optiontest.Render) {
	optiontest.RunSome(t, m, render, "sync_mode bounce", "no_face keep", "face at a point", "mask wide", "mask narrow", "picture", "segments, pictures")
}

// TestOptions renders each option by warp, those that reach an engine by wav2lip too, and some of them by musetalk. Jobs with the same video use the findings of a plain
// job, so an option that changes what is found must change the findings' name.
func TestOptions(t *testing.T) {
	folder := t.TempDir()
	add(t, folder, catalog.Wav2Lip, onnxtest.Grey().File(t))
	addGrey(t, folder)
	s, _ := open(t, folder)
	media := optiontest.Make(t)
	for _, engine := range order.EngineNames() {
		t.Run(engine, func(t *testing.T) {
			renderWith := func(t *testing.T, findings render.Findings, j optiontest.Job) (path, code string) {
				job := render.Job{Video: j.Video, Audio: j.Audios[""], Audios: j.Audios, Boxes: j.Boxes, Scratch: t.TempDir(), Engine: engine, LargestFace: j.LargestFace, Findings: findings}
				j.Options = strings.Replace(j.Options, optiontest.BoxesURL, "https://example.com/", 1)
				job.Options = j.Wishes(t)
				job.Segments = job.Options.Segments
				job.Output = filepath.Join(job.Scratch, "output"+job.Options.Output.Extension())
				if _, err := s.Render(t.Context(), job, nil); err != nil {
					return "", string(failure.Of(err).Code)
				}
				return job.Output, ""
			}
			var videos sync.Map // functions that return the findings of a video
			run := optiontest.RunPainted
			switch engine {
			case "warp":
				run = optiontest.Run
			case "musetalk":
				run = few
			}
			run(t, media, func(t *testing.T, j optiontest.Job) (path, code string) {
				findings, _ := videos.LoadOrStore(j.Video, sync.OnceValue(func() *guarded {
					kept := &guarded{memory: memory{}}
					renderWith(t, kept, media.Plain(j.Video)) // it fails for a track without a face
					return kept
				}))
				return renderWith(t, findings.(func() *guarded)(), j)
			})
		})
	}
}

// TestWithoutGPU asks for a GPU that this machine doesn't have. The engines open all the same, with one
// warning.
func TestWithoutGPU(t *testing.T) {
	if _, err := os.Stat("/dev/nvidiactl"); err == nil {
		t.Skip("this machine has an NVIDIA GPU")
	}
	s, log := openWith(t, engines.Options{NVIDIA: true})
	if s.Tools.Encodes() || strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), "the CPU encodes video") {
		t.Errorf("the GPU encodes: %t, and got %s, want one warning", s.Tools.Encodes(), log)
	}
}

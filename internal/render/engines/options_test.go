package engines_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/network/catalog"
	"lipsync/internal/render"
	"lipsync/internal/render/engines"
	"lipsync/internal/test/onnxtest"
	"lipsync/internal/test/optiontest"
)

// TestOptions renders each option by one engine, and those that reach an engine by all.
func TestOptions(t *testing.T) {
	folder := t.TempDir()
	add(t, folder, catalog.Wav2Lip, onnxtest.Grey().File(t))
	addGrey(t, folder)
	s, _ := open(t, folder)
	media := optiontest.Make(t)
	for _, engine := range order.EngineNames() {
		t.Run(engine, func(t *testing.T) {
			run := optiontest.RunPainted
			if engine == "warp" {
				run = optiontest.Run
			}
			run(t, media, func(t *testing.T, j optiontest.Job) (path, code string) {
				job := render.Job{Video: j.Video, Audio: j.Audios[""], Audios: j.Audios, Boxes: j.Boxes, Scratch: t.TempDir(), Engine: engine, LargestFace: j.LargestFace}
				j.Options = strings.Replace(j.Options, optiontest.BoxesURL, "https://example.com/", 1)
				job.Options = j.Wishes(t)
				job.Segments = job.Options.Segments
				job.Output = filepath.Join(job.Scratch, "output"+job.Options.Output.Format.Extension())
				if _, err := s.Render(t.Context(), job, nil); err != nil {
					return "", string(failure.Of(err).Code)
				}
				return job.Output, ""
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

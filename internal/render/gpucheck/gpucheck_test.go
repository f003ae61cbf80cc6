package gpucheck

import (
	"context"
	"errors"
	"image"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/face/alignment"
	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/musetalk"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/onnxtest"
)

// machine returns a machine without a GPU, with a trivial network of wav2lip and a short video.
func machine(t *testing.T) *Machine {
	t.Helper()
	onnxtest.Runtime(t)
	m := &Machine{
		Tools: ffmpegtest.Tools(t), Library: onnxtest.Library(t), Models: filepath.Join(t.TempDir(), "models"),
		Providers: []onnx.Provider{onnx.CPU}, Scratch: t.TempDir(),
	}
	if _, err := catalog.Add(m.Models, catalog.Model{Role: catalog.Wav2Lip}, onnxtest.AsItIs().File(t)); err != nil {
		t.Fatal(err)
	}
	m.Video = ffmpegtest.Make(t, "video.mp4", "-loop", "1", "-i", "../../test/facetest/head.jpg", "-t", "0.4", "-r", "25", "-vf", "scale=-2:240,format=yuv420p")
	m.Speech = ffmpegtest.Make(t, "speech.wav", "-f", "lavfi", "-i", "sine=d=0.4")
	return m
}

// TestChecks runs all checks with the CPU in place of the GPU.
func TestChecks(t *testing.T) {
	m := machine(t)
	m.Optional = []onnx.Provider{"abacus"}
	var results []Result
	err := Run(t.Context(), m.Checks(), func(r Result) error {
		results = append(results, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var report strings.Builder
	if err := Report(&report, m.Notes(t.Context(), nil), results); err != nil {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{
		"| wav2lip | CPU | 0 | 0 | ", "| active-speaker |  | not checked: there is no such network | ", // networks
		"| all | abacus | not checked: abacus is not available", "| Networks | passed, except for what was not checked |",
		"| libx264 | 184×240 | ", "| libx264 | 160×160 | ", // encoding
		"| decode-again | ", "| paint | ", // stages
		"| CPU, wav2lip | 1 | ", "| CPU, wav2lip | 8 | ", "| output | PSNR, dB | equal |", // jobs
		"| Encoding | passed |", "| Too little GPU memory | passed, except for what was not checked |", "| not checked: it ta", // shortage
	} {
		if !strings.Contains(report.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, &report)
		}
	}
	missing(t, *m)
	shown(t, m)
}

// TestMuseTalk checks its networks, and that its warning on a CPU doesn't end the checks.
func TestMuseTalk(t *testing.T) {
	m := machine(t)
	for _, role := range musetalk.Roles() {
		file := filepath.Join(t.TempDir(), string(role)+".onnx")
		halved(onnxtest.MuseTalkGrey(string(role))).Write(t, file)
		if _, err := catalog.Add(m.Models, catalog.Model{Role: role}, file); err != nil {
			t.Fatal(err)
		}
	}
	for name, check := range map[string]func(context.Context) ([][]string, error){"networks": m.networks, "batches": m.batches} {
		rows, err := check(t.Context())
		for _, role := range musetalk.Roles() {
			if hears := role == catalog.MuseTalkHearing && name == "batches"; err != nil || !hears && !slices.ContainsFunc(rows, func(row []string) bool { return row[0] == string(role) && len(row) > 3 }) {
				t.Errorf("%s: got %v, %v", name, rows, err)
			}
		}
	}
	s, err := m.open(t.Context(), onnx.CPU, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// halved is a network with an output of 16 bits, as export.py writes it.
func halved(g onnxtest.Graph) onnxtest.Graph {
	last, out := len(g.Nodes)-1, &g.Outputs[0]
	g.Nodes[last].Outputs = []string{"wide"}
	g.Nodes = append(g.Nodes, onnxtest.Node{Op: "Cast", Inputs: []string{"wide"}, Outputs: []string{out.Name}, Attributes: map[string]any{"to": 10}})
	out.Type = onnx.Float16
	return g
}

// missing checks that a provider that isn't there fails the checks that need it.
func missing(t *testing.T, m Machine) {
	t.Helper()
	m.Providers, m.Optional = []onnx.Provider{"abacus"}, nil
	for _, c := range m.Checks() {
		switch c.Name {
		case "Networks", "Stages", "Jobs":
			if _, err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "abacus is not available") {
				t.Errorf("%s with a provider that isn't there: got %v", c.Name, err)
			}
		}
	}
}

// shown compares the engine's job with that of an engine that makes the same, and of an engine
// that doesn't.
func shown(t *testing.T, m *Machine) {
	t.Helper()
	s, err := m.open(t.Context(), onnx.CPU, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := m.sameJob(t.Context(), s, s.Engines["wav2lip"]); err != nil {
		t.Errorf("by the same engine: %v", err)
	}
	s.Engines["wav2lip"] = dark{}
	if err := m.sameJob(t.Context(), s, s.Engines["warp"]); err == nil || !strings.Contains(err.Error(), "differs") {
		t.Errorf("by one that paints all black: got %v", err)
	}
}

// dark paints all frames black.
type dark struct{}

func (dark) Analyse(engine.Video) (engine.Analyser, error) { return dark{}, nil }
func (dark) Workers() int                                  { return 1 }
func (dark) Articulates() bool                             { return false }
func (dark) Add(alignment.Frame) error                     { return nil }

func (dark) Plan(context.Context, engine.Output) (engine.Painter, error) { return dark{}, nil }

func (dark) Paint(_ context.Context, _ int, frame *image.YCbCr) ([]engine.Mouth, error) {
	mask := image.NewAlpha(frame.Rect)
	for i := range mask.Pix {
		mask.Pix[i] = 255
	}
	return []engine.Mouth{{Image: image.NewYCbCr(frame.Rect, frame.SubsampleRatio), Mask: mask}}, nil
}

func TestReport(t *testing.T) {
	var got strings.Builder
	err := Report(&got, []string{"A GPU"}, []Result{
		{Check: Check{Name: "One", What: "It is."}, Took: 2 * time.Second},
		{Check: Check{Name: "Two", What: "They are.", Head: []string{"A", "B"}}, Rows: [][]string{{"1", "2"}, {"a|\nb"}}, Err: errors.New("no")},
	})
	const want = `# GPU check

- A GPU

| Check | Result |
|---|---|
| One | passed |
| Two | failed: no |

## One

It is.

|
|

It took 2 s, and passed.

## Two

They are.

| A | B |
|---|---|
| 1 | 2 |
| a\| b |  |

It took 0 s, and failed: no.
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
	if err == nil || err.Error() != "Two: no" {
		t.Errorf("got %v", err)
	}
}

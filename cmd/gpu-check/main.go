// Command gpu-check checks on a machine with an NVIDIA GPU that the service does there the
// same as without one, and measures how fast. Its exit status is 1 if a check fails.
// Without a GPU it lists the checks that it would run.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/gpucheck"
	"lipsync/internal/render/measure"
)

// flags are the command line.
type flags struct {
	Report      string          `default:"dist/gpu-check.md" placeholder:"FILE" help:"Where the figures are written (default: ${default})."`
	ONNXRuntime string          `name:"onnxruntime" placeholder:"FILE" help:"The shared library of ONNX Runtime."`
	Providers   []onnx.Provider `placeholder:"NAME,…" help:"What to compare with the CPU; the first is used in jobs (default: cuda, and tensorrt if the machine has it)."`
	Seconds     int             `default:"30" help:"Length of the video and the speech (default: ${default})."`
	Video       string          `placeholder:"FILE" help:"A video of a face, to use in place of the sample."`
	Speech      string          `placeholder:"FILE" help:"Speech, to use in place of the sample."`
	Limit       time.Duration   `default:"8m" help:"The longest time of all checks (default: ${default})."`
	Checks      []string        `placeholder:"NAME,…" help:"Which checks to run, by the first word of their names (default: all)."`
	Networks    []string        `arg:"" optional:"" placeholder:"ROLE=FILE" help:"Networks, for example wav2lip=random.onnx. Files that are not there are left out."`
}

func main() {
	var f flags
	kong.Parse(&f, kong.Name("gpu-check"), kong.Description("Check the use of an NVIDIA GPU against the CPU."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := f.run(ctx, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "gpu-check: %v\n", err)
		os.Exit(1)
	}
}

func (f *flags) run(ctx context.Context, out io.Writer) error {
	gpus, err := gpucheck.GPUs(ctx)
	if errors.Is(err, gpucheck.ErrNoGPU) && !slices.Equal(f.Providers, []onnx.Provider{onnx.CPU}) {
		fmt.Fprintf(out, "Nothing is checked: %v.\nOn a machine with one, this would be:\n\n", err)
		gpucheck.Plan(out, new(gpucheck.Machine).Checks())
		return nil
	}
	if err != nil && !errors.Is(err, gpucheck.ErrNoGPU) {
		return err
	}
	scratch, err := os.MkdirTemp("", "gpu-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	ctx, cancel := context.WithTimeout(ctx, f.Limit)
	defer cancel()
	m, err := f.machine(ctx, scratch)
	if err != nil {
		return err
	}
	m.NVIDIA = gpus != nil
	notes := m.Notes(ctx, gpus)
	for _, note := range notes {
		fmt.Fprintf(out, "- %s\n", note)
	}
	checks, err := f.chosen(m.Checks())
	if err != nil {
		return err
	}
	var results []gpucheck.Result
	var failed error
	err = gpucheck.Run(ctx, checks, func(r gpucheck.Result) (err error) {
		r.Print(out)
		results = append(results, r)
		failed, err = f.keep(notes, results)
		return err
	})
	return errors.Join(err, failed)
}

// chosen returns the checks that Checks names.
func (f *flags) chosen(all []gpucheck.Check) (chosen []gpucheck.Check, err error) {
	if len(f.Checks) == 0 {
		return all, nil
	}
	for _, wanted := range f.Checks {
		i := slices.IndexFunc(all, func(c gpucheck.Check) bool {
			name, _, _ := strings.Cut(c.Name, " ")
			return strings.EqualFold(wanted, name)
		})
		if i < 0 {
			return nil, fmt.Errorf("there is no check %s", wanted)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// keep writes the report of the results so far, so that it is there however this program ends. It returns the joined errors of
// the checks that failed.
func (f *flags) keep(notes []string, results []gpucheck.Result) (failed, err error) {
	if err := os.MkdirAll(filepath.Dir(f.Report), 0o755); err != nil {
		return nil, err
	}
	var report bytes.Buffer
	failed = gpucheck.Report(&report, notes, results)
	return failed, os.WriteFile(f.Report, report.Bytes(), 0o644)
}

// machine prepares the networks and media of the checks in the folder scratch.
func (f *flags) machine(ctx context.Context, scratch string) (*gpucheck.Machine, error) {
	tools, err := ffmpeg.Find(runtime.NumCPU())
	if err != nil {
		return nil, err
	}
	m := &gpucheck.Machine{
		Tools: tools, Library: f.ONNXRuntime, Models: filepath.Join(scratch, "models"), Providers: f.Providers, Scratch: scratch,
	}
	if len(m.Providers) == 0 {
		m.Providers, m.Optional = []onnx.Provider{onnx.CUDA}, []onnx.Provider{onnx.TensorRT}
	}
	if err := errors.Join(os.Mkdir(m.Models, 0o755), os.WriteFile(filepath.Join(m.Models, catalog.FileName), []byte("{}"), 0o600)); err != nil {
		return nil, err
	}
	for _, network := range f.Networks {
		if err := addNetwork(m.Models, network); err != nil {
			return nil, err
		}
	}
	if f.Video != "" && f.Speech != "" {
		m.Video, m.Speech = f.Video, f.Speech
		return m, nil
	}
	const height = 512
	m.Video, m.Speech, err = measure.Sample(ctx, scratch, height, f.Seconds)
	return m, err
}

// addNetwork adds a network, ROLE=FILE, to the folder of models.
func addNetwork(models, network string) error {
	name, path, _ := strings.Cut(network, "=")
	role, err := catalog.ParseRole(name)
	if err != nil {
		return err
	}
	if _, err := catalog.Add(models, catalog.Model{Role: role}, path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Package gpucheck checks on a machine with an NVIDIA GPU that the service has the same
// results on the GPU as on the CPU, and measures its speed. The checks also run without a
// GPU: then the CPU is compared with itself.
package gpucheck

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/engines"
	"lipsync/internal/render/intake"
	"lipsync/internal/render/musetalk"
)

// Machine has all that the checks use.
type Machine struct {
	Tools     *ffmpeg.Tools   // of the CPU
	NVIDIA    bool            // whether there is a GPU; then it encodes too
	Library   string          // file of ONNX Runtime, as in engines.Options
	Models    string          // the folder of models
	Providers []onnx.Provider // to compare with the CPU; the first is used in jobs
	Optional  []onnx.Provider // to compare with the CPU too, if the machine has them
	Video     string          // path of a video of a face
	Speech    string          // path of speech, as long as the video
	Scratch   string          // an existing folder for temporary files

	gpu     *ffmpeg.Tools // see onGPU; nil until then
	without warnings      // what it can't do
}

// Check is one check of the machine.
type Check struct {
	Name string
	What string   // sentences that say what is checked
	Head []string // head of its table
	// Run returns the rows of its table, even if it fails.
	Run func(context.Context) (rows [][]string, err error)
}

// Checks returns all checks, in their order.
func (m *Machine) Checks() []Check {
	return []Check{
		{"Networks", networksWhat, []string{"Network", "Provider", "Largest difference", "Of the largest number", "ms a run", "ms on the CPU"}, m.networks},
		{"Stages", stagesWhat, []string{"Stage", "Frames/s on the CPU", "Frames/s on the GPU"}, m.stages},
		{"Jobs", jobsWhat, []string{"Provider", "Jobs at once", "Frames/s of all", "GPU memory, MiB", "Memory, MiB"}, m.jobs},
		{"Batches", batchesWhat, []string{"Network", "Items in a run", "First run, ms", "ms a run", "Items/s"}, m.batches},
		{"Encoding", encodingWhat, []string{"Encoder", "Size", "PSNR, dB", "SSIM, dB", "kbit a frame", "Frames/s"}, m.encoding},
		{"Too little GPU memory", shortageWhat, []string{"Limit, MiB", "What happened"}, m.shortage},
	}
}

// Result is the outcome of a check.
type Result struct {
	Check
	Rows [][]string
	Took time.Duration
	Err  error // nil if it passed
}

// errNoTime is the error of a check that was not run, or not to its end, since the time was over.
var errNoTime = errors.New("the time was over")

// Run runs checks one after the other, and calls ended with the result of each. If ctx ends, the check that runs ends with it, and the
// results of the checks after it say that there was no time.
func Run(ctx context.Context, checks []Check, ended func(Result) error) error {
	for _, c := range checks {
		var rows [][]string
		err := errNoTime
		began := time.Now()
		if ctx.Err() == nil {
			if rows, err = c.Run(ctx); ctx.Err() != nil {
				err = errors.Join(errNoTime, err)
			}
		}
		if err := ended(Result{c, rows, time.Since(began), err}); err != nil {
			return err
		}
	}
	return nil
}

// cores returns the number of processor cores that a job uses.
func (m *Machine) cores() int { return m.Tools.Threads }

// open prepares rendering with all models on one provider. It returns an error if a model
// can't be used, or only on another provider.
func (m *Machine) open(ctx context.Context, p onnx.Provider, gpu bool) (*engines.Set, error) {
	var log bytes.Buffer
	o := engines.Options{
		Limits: intake.DefaultLimits(), Cores: m.cores(), Models: m.Models, Library: m.Library, Providers: []onnx.Provider{p},
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	s, err := engines.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if gpu && m.encodes(ctx) {
		s.Tools = m.onGPU(ctx)
		s.Media = s.Tools
	}
	said := slices.DeleteFunc(slices.Collect(strings.Lines(log.String())), func(line string) bool { return strings.Contains(line, musetalk.Slow) })
	if len(said) > 0 {
		return nil, errors.Join(fmt.Errorf("with %s: %s", p, strings.TrimSpace(strings.Join(said, ""))), s.Close())
	}
	return s, nil
}

// encodes tells whether the GPU encodes. Some GPUs for data centers have no encoder.
func (m *Machine) encodes(ctx context.Context) bool { return m.onGPU(ctx).Encodes() }

// Notes returns sentences about the machine.
func (m *Machine) Notes(ctx context.Context, gpus []GPU) (notes []string) {
	for _, g := range gpus {
		notes = append(notes, fmt.Sprintf("%s with %d MiB, driver %s", g.Name, g.Total, g.Driver))
	}
	if r, err := onnx.Open(m.Library); err == nil {
		notes = append(notes, "ONNX Runtime "+r.Version())
	}
	if !m.encodes(ctx) {
		notes = append(notes, "The GPU does not encode: in stages and jobs the CPU does.")
	}
	if fewer := m.without.about("fewer layers"); fewer != "" {
		notes = append(notes, fewer)
	}
	return notes
}

// ofJobs returns the name of the engine of jobs: wav2lip if its network is there, else warp.
func ofJobs(s *engines.Set) string { return cmp.Or(usable(s, "wav2lip"), "warp") }

// muse returns the name of the engine musetalk if its networks are there, else "".
func muse(s *engines.Set) string { return usable(s, "musetalk") }

// usable returns the name of an engine if it can be used, else "".
func usable(s *engines.Set, name string) string {
	if _, err := s.Names(name); err != nil {
		return ""
	}
	return name
}

// folder makes a new folder for temporary files.
func (m *Machine) folder() (string, error) { return os.MkdirTemp(m.Scratch, "check-") }

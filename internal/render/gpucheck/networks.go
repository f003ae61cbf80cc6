package gpucheck

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/engines"
)

const networksWhat = "Each network makes on the GPU what it makes on the CPU of the same random inputs. " +
	"No difference is above 1/64 of the largest number of its output: TF32 and FP16 keep 11 bits, " +
	"so that each layer rounds by up to 1/2048, and the networks have some 32 layers in a row."

// bound is the largest allowed difference of an output's numbers, as a share of its largest number.
const bound = 1. / 64

// networks compares each network on each provider with the CPU.
func (m *Machine) networks(ctx context.Context) (rows [][]string, err error) {
	models, err := catalog.Read(m.Models)
	if err != nil {
		return nil, err
	}
	runtime, err := onnx.Open(m.Library)
	if err != nil {
		return nil, err
	}
	providers := slices.Clone(m.Providers)
	for _, p := range m.Optional {
		if err := runtime.Available(p); err != nil {
			rows = append(rows, []string{"all", string(p), notChecked + err.Error()})
			continue
		}
		providers = append(providers, p)
	}
	for _, role := range catalog.Roles() {
		model, found := models.Find(role)
		if !found {
			rows = append(rows, []string{string(role), "", notChecked + "there is no such network"})
			continue
		}
		want, e := outputs(ctx, runtime, model, onnx.CPU)
		if e != nil {
			err = errors.Join(err, fmt.Errorf("%s on the CPU: %w", role, e))
			continue
		}
		for _, p := range providers {
			row, e := []string{string(role), string(p)}, error(nil)
			got, e := outputs(ctx, runtime, model, p)
			if e == nil {
				var d difference
				d, e = compare(got.numbers, want.numbers)
				row = append(row, fmt.Sprintf("%.2g", d.absolute), fmt.Sprintf("%.2g", d.relative), ms(got.took), ms(want.took))
			}
			if e != nil {
				err = errors.Join(err, fmt.Errorf("%s with %s: %w", role, p, e))
			}
			rows = append(rows, row)
		}
	}
	return rows, err
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()*1000) }

// made is the output of a network.
type made struct {
	numbers [][]float32   // of each output
	took    time.Duration // mean time of a run, without the first
}

// outputs runs a network on one provider.
func outputs(ctx context.Context, r *onnx.Runtime, model catalog.Model, p onnx.Provider) (made, error) {
	providers := []onnx.Provider{p}
	if p == onnx.TensorRT {
		providers = append(providers, onnx.CUDA) // for layers that TensorRT doesn't know
	}
	s, err := model.Load(r, onnx.Options{Providers: providers, Threads: engines.Threads(model.Role)})
	if err != nil {
		return made{}, err
	}
	defer s.Close()
	if s.Provider() != p {
		return made{}, fmt.Errorf("%s does not take it or is not installed, so that it runs with %s", p, s.Provider())
	}
	b, err := bind(ctx, model.Role, s, 4)
	if err != nil {
		return made{}, err
	}
	defer b.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for i, in := range s.Inputs() {
		from, to := values(model.Role, in)
		for k := range b.Input(i) {
			b.Input(i)[k] = from + (to-from)*random.Float32()
		}
	}
	return run(ctx, b, len(s.Outputs()))
}

// bind returns the memory of runs of n items. The shapes of outputs are found by a run, except for outputs of 16 bits, which
// must be given: no network of this service that has them leaves more open than the number of items.
func bind(ctx context.Context, role catalog.Role, s *onnx.Session, n int) (*onnx.Binding, error) {
	var out [][]int
	if slices.ContainsFunc(s.Outputs(), func(o onnx.Info) bool { return o.Type == onnx.Float16 }) {
		out = shapes(role, s.Outputs(), n)
	}
	return s.Bind(ctx, shapes(role, s.Inputs(), n), out)
}

// run runs a network once, and then some more times to measure the time.
func run(ctx context.Context, b *onnx.Binding, outputs int) (r made, err error) {
	if err := b.Run(ctx); err != nil {
		return made{}, err
	}
	const runs = 5
	started := time.Now()
	for range runs {
		if err := b.Run(ctx); err != nil {
			return made{}, err
		}
	}
	r.took = time.Since(started) / runs
	for i := range outputs {
		r.numbers = append(r.numbers, append([]float32(nil), b.Output(i)...))
	}
	return r, nil
}

// shapes returns the shapes of inputs or outputs: for n items, or for 1 s if the network finds the
// speaker. Such a network takes 25 pictures, and 4 rows of sound with each.
func shapes(role catalog.Role, infos []onnx.Info, n int) [][]int {
	var all [][]int
	for _, in := range infos {
		shape := append([]int(nil), in.Shape...)
		for i, size := range shape {
			switch {
			case size >= 0:
			case role != catalog.ActiveSpeaker:
				shape[i] = n
			case i == 0:
				shape[i] = 1
			case len(shape) == 3:
				shape[i] = 4 * 25
			default:
				shape[i] = 25
			}
		}
		all = append(all, shape)
	}
	return all
}

// values returns the range of the numbers of an input. It is about the range in jobs.
func values(role catalog.Role, in onnx.Info) (from, to float32) {
	switch {
	case role == catalog.ActiveSpeaker && len(in.Shape) == 3: // MFCC
		return -20, 20
	case role == catalog.ActiveSpeaker:
		return 0, 255
	case role == catalog.Wav2Lip && len(in.Shape) == 4 && in.Shape[1] == 1: // mel
		return -4, 4
	case role == catalog.FaceDetector:
		return -1, 1
	}
	return 0, 1
}

// difference is the largest difference of numbers: the absolute one, and that as a share of
// the largest number of the output.
type difference struct{ absolute, relative float64 }

// compare returns the largest difference of outputs, and an error if it is too large or
// if a number on either side is NaN or infinite.
func compare(got, want [][]float32) (d difference, err error) {
	for i := range want {
		if len(got) != len(want) || len(got[i]) != len(want[i]) {
			return d, fmt.Errorf("output %d has another size than on the CPU", i)
		}
		var off, largest float64
		for k, w := range want[i] {
			g, w := float64(got[i][k]), float64(w)
			if !finite(g) || !finite(w) {
				return d, fmt.Errorf("output %d has %v, and %v on the CPU", i, g, w)
			}
			off, largest = max(off, math.Abs(g-w)), max(largest, math.Abs(w))
		}
		d.absolute = max(d.absolute, off)
		if off > 0 {
			d.relative = max(d.relative, off/largest)
		}
	}
	if !(d.relative <= bound) {
		return d, fmt.Errorf("the largest difference is %.2g of the largest number, more than %.2g", d.relative, bound)
	}
	return d, nil
}

func finite(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }

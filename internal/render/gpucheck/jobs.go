package gpucheck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/network/onnx"
	"lipsync/internal/render"
	"lipsync/internal/render/engines"
	"lipsync/internal/render/measure"
)

const stagesWhat = "Frames a second of each stage of a job by itself, without the GPU and with it. Only networks and pictures use it."

// stages measures the stages of a job.
func (m *Machine) stages(ctx context.Context) (rows [][]string, err error) {
	var both [2]*measure.Times
	for i, p := range []onnx.Provider{onnx.CPU, m.Providers[0]} {
		if both[i], err = m.measure(ctx, p, i == 1); err != nil {
			return nil, err
		}
	}
	for _, stage := range measure.StageNames() {
		row := []string{stage}
		for _, t := range both {
			row = append(row, fmt.Sprintf("%.0f", t.Rate(t.Took[stage])))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (m *Machine) measure(ctx context.Context, p onnx.Provider, gpu bool) (*measure.Times, error) {
	s, err := m.open(ctx, p, gpu)
	if err != nil {
		return nil, err
	}
	dir, err := m.folder()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	defer os.RemoveAll(dir)
	t, err := measure.Stages(ctx, s.Renderer, ofJobs(s), m.Video, m.Speech, dir)
	return t, errors.Join(err, s.Close())
}

const jobsWhat = "Whole jobs on the CPU and with the GPU, some at the same time: frames a second of all together, and the most memory, of the GPU " +
	"and of all processes, that was seen. The output with the GPU is within 40 dB PSNR (2.5 of 255) of that of the CPU."

// jobs measures whole jobs, also several at once, and compares an output with the GPU with that of the CPU. Jobs of musetalk are measured
// on a GPU only: on a CPU they would take hours.
func (m *Machine) jobs(ctx context.Context) (rows [][]string, err error) {
	dir, err := m.folder()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	outputs := []string{filepath.Join(dir, "cpu.mp4"), filepath.Join(dir, "gpu.mp4")}
	for i, p := range []onnx.Provider{onnx.CPU, m.Providers[0]} {
		counts := []int{1}
		if i == 1 {
			counts = []int{1, 1, 2, 4, 8}
		}
		more, err := m.jobsOn(ctx, p, i == 1, ofJobs, counts, outputs[i])
		rows = append(rows, more...)
		if err != nil {
			return rows, fmt.Errorf("with %s: %w", p, err)
		}
	}
	if m.NVIDIA {
		more, err := m.jobsOn(ctx, m.Providers[0], true, muse, []int{1, 1, 4}, "")
		rows = append(rows, more...)
		if err != nil {
			return rows, fmt.Errorf("with musetalk: %w", err)
		}
	}
	l, err := m.liken(ctx, outputs[1], outputs[0])
	if err != nil {
		return rows, err
	}
	if rows = append(rows, []string{"output", "PSNR, dB", decibels(l.psnr())}); l.psnr() < near {
		err = fmt.Errorf("the output with the GPU differs from that of the CPU: PSNR is %.1f dB", l.psnr())
	}
	return rows, err
}

// jobsOn measures jobs on one provider: for each count, that many at once. choose returns the engine that they run by, or "" for no
// jobs. jobsOn keeps the first output.
func (m *Machine) jobsOn(ctx context.Context, p onnx.Provider, gpu bool, choose func(*engines.Set) string, counts []int, output string) (rows [][]string, err error) {
	s, err := m.open(ctx, p, gpu)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	name := choose(s)
	if name == "" {
		return nil, nil
	}
	for _, n := range counts {
		row, err := m.atOnce(ctx, s, name, n, output)
		if err != nil {
			return rows, fmt.Errorf("%d at once: %w", n, err)
		}
		rows, output = append(rows, append([]string{fmt.Sprintf("%s, %s", p, name)}, row...)), ""
	}
	return rows, nil
}

// atOnce runs n jobs of an engine at the same time. It keeps the output of the first at the path output, unless that is "".
func (m *Machine) atOnce(ctx context.Context, s *engines.Set, engine string, n int, output string) ([]string, error) {
	watched, stop := context.WithCancel(ctx)
	memory := make(chan usage, 1)
	go func() { memory <- m.watch(watched) }()
	started := time.Now()
	all, ctx := errgroup.WithContext(ctx)
	frames := make([]float64, n)
	for i := range n {
		path := ""
		if i == 0 {
			path = output
		}
		all.Go(func() (err error) {
			frames[i], err = m.job(ctx, s.Renderer, engine, path)
			return err
		})
	}
	err := all.Wait()
	took := time.Since(started)
	stop()
	most := <-memory
	if err != nil {
		return nil, err
	}
	var sum float64
	for _, f := range frames {
		sum += f
	}
	gpu := "none"
	if m.NVIDIA {
		gpu = fmt.Sprint(most.gpu)
	}
	return []string{fmt.Sprint(n), fmt.Sprintf("%.0f", sum/took.Seconds()), gpu, fmt.Sprint(most.host >> 20)}, nil
}

// job runs a job and returns the number of frames that it made. It keeps the output at the
// path output, unless that is "".
func (m *Machine) job(ctx context.Context, r *render.Renderer, engine, output string) (frames float64, err error) {
	dir, err := m.folder()
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if output == "" {
		output = filepath.Join(dir, "out.mp4")
	}
	made, err := r.Render(ctx, render.Job{Video: m.Video, Audio: m.Speech, Output: output, Scratch: dir, Engine: engine}, nil)
	return float64(made.Frames.Total), err
}

// usage is the largest use of memory that was seen.
type usage struct {
	gpu  int   // MiB, of the first GPU
	host int64 // bytes, of this process and its descendants
}

// watch samples memory until the context ends.
func (m *Machine) watch(ctx context.Context) (most usage) {
	for ctx.Err() == nil {
		most.host = max(most.host, measure.Memory(os.Getpid()))
		if m.NVIDIA {
			if gpus, err := GPUs(ctx); err == nil && len(gpus) > 0 {
				most.gpu = max(most.gpu, gpus[0].Used)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	return most
}

package gpucheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"

	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/engines"
	"lipsync/internal/render/wav2lip"
)

const shortageWhat = "The network of wav2lip gets less and less memory of the GPU until its batches become smaller. " +
	"A job then ends well, and its output is within 40 dB PSNR (2.5 of 255) of the one that had all memory."

// near is the least PSNR of the two outputs, in dB: batches of another size may round
// differently, but show the same face.
const near = 40.

// The limits of memory that are tried, in bytes, each three quarters of the one before.
const mostMemory, leastMemory = 8 << 30, 32 << 20

// shortage gives a network too little memory for its batches, and renders with it.
func (m *Machine) shortage(ctx context.Context) (rows [][]string, err error) {
	models, err := catalog.Read(m.Models)
	if err != nil {
		return nil, err
	}
	model, found := models.Find(catalog.Wav2Lip)
	if !found || !m.NVIDIA {
		return [][]string{{"", notChecked + "it takes the network of wav2lip and a GPU"}}, nil
	}
	runtime, err := onnx.Open(m.Library)
	if err != nil {
		return nil, err
	}
	s, err := m.open(ctx, onnx.CUDA, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return squeeze(func(limit int64) (smaller bool, err error) {
		return m.squeezed(ctx, s, func() (*onnx.Session, error) {
			return model.Load(runtime, onnx.Options{Providers: []onnx.Provider{onnx.CUDA}, Threads: engines.Threads(model.Role), GPUMemory: limit})
		})
	})
}

// squeeze tries smaller and smaller limits, until batches become smaller.
func squeeze(try func(limit int64) (smaller bool, err error)) (rows [][]string, err error) {
	for limit := int64(mostMemory); limit >= leastMemory; limit = limit / 4 * 3 {
		mib := fmt.Sprint(limit >> 20)
		smaller, err := try(limit)
		switch {
		case err != nil:
			return append(rows, []string{mib, "it failed"}), fmt.Errorf("at %s MiB: %w", mib, err)
		case smaller:
			return append(rows, []string{mib, "batches were made smaller, and the job ended well"}), nil
		}
		rows = append(rows, []string{mib, "full batches fit"})
	}
	return rows, errors.New("full batches fit at every limit")
}

// squeezed opens the engine on a network that load loads. If its batches are smaller
// because memory is short, it compares the output of a job with that of the set's engine.
func (m *Machine) squeezed(ctx context.Context, s *engines.Set, load func() (*onnx.Session, error)) (smaller bool, err error) {
	session, err := load()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	var log bytes.Buffer
	engine, err := wav2lip.New(ctx, session, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	if log.Len() == 0 {
		return false, nil
	}
	return true, m.sameJob(ctx, s, engine)
}

// sameJob compares the outputs of a job by the set's engine and by another one.
func (m *Machine) sameJob(ctx context.Context, s *engines.Set, other engine.Engine) error {
	dir, err := m.folder()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := *s.Renderer
	r.Engines = maps.Clone(s.Engines)
	r.Engines["other"] = other
	paths := map[string]string{}
	for _, name := range []string{"wav2lip", "other"} {
		paths[name] = filepath.Join(dir, name+".mp4")
		if _, err := m.job(ctx, &r, name, paths[name]); err != nil {
			return err
		}
	}
	l, err := m.liken(ctx, paths["wav2lip"], paths["other"])
	if err != nil {
		return err
	}
	if l.psnr() < near {
		return fmt.Errorf("the output differs from that with all memory: PSNR is %.1f dB", l.psnr())
	}
	return nil
}

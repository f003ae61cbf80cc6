//go:build cgo

package onnx

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	ort "github.com/yalue/onnxruntime_go"

	"lipsync/internal/domain/failure"
	"lipsync/internal/network/vet"
)

// Session is a network that is ready to run. It is safe for concurrent use.
type Session struct {
	header   vet.Header
	provider Provider
	threads  int
	longest  time.Duration // of a run

	running sync.RWMutex // read-locked by runs, locked by Close
	network *ort.DynamicAdvancedSession
	thread  chan func() // runs of a GPU; nil on the CPU
}

// longest is the longest time of a run. TensorRT compiles the network in the first run.
const longest = 5 * time.Minute

// LoadModel makes a session of a model. One that cannot be used is a *ModelError.
func (r *Runtime) LoadModel(m *Model, o Options) (*Session, error) {
	bad := func(reason error) error {
		return &ModelError{File: m.name, Reason: reason.Error(), Err: reason}
	}
	if m.bad != nil {
		return nil, bad(m.bad)
	}
	h, err := vet.Read(m.judged)
	if err != nil {
		return nil, bad(err)
	}
	providers, err := available(o)
	if err != nil {
		return nil, err
	}
	cuda, err := m.forCUDA(providers)
	if err != nil {
		return nil, bad(err)
	}
	if o.EngineCache != "" {
		o.EngineCache = engineFolder(o.EngineCache, kernelDriver, r.version, m.SHA256)
	}
	s := &Session{header: h, threads: o.Threads, longest: longest}
	if s.threads == 0 {
		s.threads = runtime.GOMAXPROCS(0)
	}
	for n := range providers { // a provider that does not take the model is left out
		if short := m.checkMemory(providers[n]); short != nil {
			return nil, bad(lacking(short, providers[max(n-1, 0)], err))
		}
		if providers[n] == CUDA && cuda != nil {
			o.channelsLast = true
			s.network, err = s.build(cuda, m.folder, providers[n:], o)
			o.channelsLast = false
		}
		if s.network == nil {
			s.network, err = s.build(m.linked, m.folder, providers[n:], o)
		}
		if err == nil {
			if s.provider = providers[n]; s.provider != CPU {
				s.thread = newThread()
			}
			return s, nil
		}
	}
	return nil, &ModelError{File: m.name, Reason: fmt.Sprintf("ONNX Runtime says %q", firstLine(err)), Err: err}
}

// newThread returns a thread of the operating system, until the channel is closed. cuDNN keeps the plans of attention for each thread, and
// making them takes half a second. A goroutine moves from thread to thread.
func newThread() chan func() {
	thread := make(chan func())
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread() // else the thread would end, and CUDA's libraries would free what they keep for it
		for do := range thread {
			do()
		}
	}()
	return thread
}

// build makes the network of a model on the first of the providers. The others compute the
// operators that the first cannot compute. The library itself adds the CPU as the last.
func (s *Session) build(model []byte, folder string, providers []Provider, o Options) (*ort.DynamicAdvancedSession, error) {
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer options.Destroy()
	if err := options.SetIntraOpNumThreads(s.threads); err != nil {
		return nil, err
	}
	for key, value := range loadOptions(folder) {
		if err := options.AddSessionConfigEntry(key, value); err != nil {
			return nil, err
		}
	}
	for _, p := range providers {
		if err := p.addTo(options, o); err != nil {
			return nil, err
		}
	}
	return ort.NewDynamicAdvancedSessionWithONNXData(model, names(s.header.Inputs), names(s.header.Outputs), options)
}

// loadOptions returns the options of sessions. Their keys are those of onnxruntime_session_options_config_keys.h.
// Weights that the model doesn't hold are in a file of the folder.
func loadOptions(folder string) map[string]string {
	options := map[string]string{
		// Files of ONNX Runtime's own format, ORT, are not vetted. It would recognise
		// them by an identifier that an ONNX file can have as well.
		"session.load_model_format": "ONNX",
		// The memory of all networks together is bounded: see limitMemory.
		"session.use_env_allocators": "1",
		// Constant folding would compute constants while a model is loaded, with memory
		// that nothing bounds. Exporters have done it already.
		"optimization.disable_specified_optimizers": "ConstantFolding",
		// Waiting threads leave the processor to the other stages of the pipeline.
		"session.intra_op.allow_spinning": "0",
	}
	if folder != "" {
		options["session.model_external_initializers_file_folder_path"] = folder
	}
	return options
}

func names(list []Info) []string {
	names := make([]string, len(list))
	for n, info := range list {
		names[n] = info.Name
	}
	return names
}

// Inputs returns the network's inputs, in the model's order.
func (s *Session) Inputs() []Info { return slices.Clone(s.header.Inputs) }

// Outputs returns the network's outputs, in the model's order.
func (s *Session) Outputs() []Info { return slices.Clone(s.header.Outputs) }

// Provider returns the provider that computes the network: the first that accepted it.
func (s *Session) Provider() Provider { return s.provider }

// Threads returns the largest number of processor cores that one run uses.
func (s *Session) Threads() int { return s.threads }

var errClosed = errors.New("the network is closed")

// Close waits until runs have ended, and frees the network. It doesn't close bindings.
func (s *Session) Close() error {
	s.running.Lock()
	defer s.running.Unlock()
	if s.network == nil {
		return nil
	}
	network := s.network
	s.network = nil
	if s.thread != nil {
		close(s.thread)
	}
	return network.Destroy()
}

// use calls do with the network, on the session's thread if it has one. If ctx ends before the thread is free, use returns its error.
func (s *Session) use(ctx context.Context, do func(*ort.DynamicAdvancedSession) error) error {
	s.running.RLock()
	defer s.running.RUnlock()
	if s.network == nil {
		return errClosed
	}
	if s.thread == nil {
		return do(s.network)
	}
	return onThread(ctx, s.thread, func() error { return do(s.network) })
}

// onThread calls do on a thread, and waits. If do panics, onThread returns the panic as an error.
func onThread(ctx context.Context, thread chan<- func(), do func() error) error {
	done := make(chan error, 1)
	select {
	case thread <- func() { done <- failure.Guard(do) }:
		return <-done
	case <-ctx.Done():
		return ctx.Err()
	}
}

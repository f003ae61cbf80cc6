//go:build cgo

package onnx

import (
	"fmt"
	"os"
	"strconv"

	ort "github.com/yalue/onnxruntime_go"
)

// available returns those of the wanted providers that this machine and this
// library have.
func available(o Options) ([]Provider, error) {
	wanted := o.Providers
	if len(wanted) == 0 {
		wanted = []Provider{CUDA, CPU}
	}
	var found []Provider
	var missing error
	for _, p := range wanted {
		if err := p.try(o); err != nil {
			missing = fmt.Errorf("%s is not available: %w", p, err)
			continue
		}
		found = append(found, p)
	}
	if len(found) == 0 {
		return nil, missing
	}
	return found, nil
}

// Available returns an error if this machine or this library does not have a provider.
func (r *Runtime) Available(p Provider) error {
	_, err := available(Options{Providers: []Provider{p}})
	return err
}

func (p Provider) try(o Options) error {
	o.EngineCache = "" // it compiles nothing
	options, err := ort.NewSessionOptions()
	if err != nil {
		return err
	}
	defer options.Destroy()
	return p.addTo(options, o)
}

// addTo lets a session use the provider, after the providers that were added before. The
// settings of providers for GPUs are the library's defaults, except the limit of memory, the order of
// channels, the folder of engines, and how CUDA chooses an algorithm: by rules. To try all of them takes .7 s for each shape in place
// of .1 s, and runs are no faster. make gpu-check checks them.
func (p Provider) addTo(options *ort.SessionOptions, o Options) error {
	switch p {
	case TensorRT:
		settings, err := ort.NewTensorRTProviderOptions()
		if err != nil {
			return err
		}
		defer settings.Destroy()
		if o.EngineCache != "" {
			if err := os.MkdirAll(o.EngineCache, 0o700); err != nil {
				return err
			}
			if err := settings.Update(map[string]string{"trt_engine_cache_enable": "1", "trt_engine_cache_path": o.EngineCache}); err != nil {
				return err
			}
		}
		return options.AppendExecutionProviderTensorRT(settings)
	case CUDA:
		settings, err := ort.NewCUDAProviderOptions()
		if err != nil {
			return err
		}
		defer settings.Destroy()
		set := map[string]string{"cudnn_conv_algo_search": "HEURISTIC"}
		if o.GPUMemory > 0 {
			set["gpu_mem_limit"] = strconv.FormatInt(o.GPUMemory, 10)
		}
		if o.channelsLast {
			set["prefer_nhwc"] = "1"
		}
		if err := settings.Update(set); err != nil {
			return err
		}
		return options.AppendExecutionProviderCUDA(settings)
	case CPU:
		return nil // the CPU is always there
	}
	return fmt.Errorf("there is no provider %q", string(p))
}

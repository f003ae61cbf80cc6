package models

import (
	"runtime"
	"slices"
	"testing"

	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
)

// TestModelsAreTriedAsServed checks that models are tried with as many threads as in serve, since
// their memory depends on it.
func TestModelsAreTriedAsServed(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, role := range []catalog.Role{catalog.Wav2Lip, catalog.FaceLandmarks} {
		flags := Flags{Providers: []onnx.Provider{onnx.CPU}}
		if got := flags.options(role); got.Threads != 1 || !slices.Equal(got.Providers, flags.Providers) {
			t.Errorf("%s: got %+v, want 1 thread", role, got)
		}
	}
}

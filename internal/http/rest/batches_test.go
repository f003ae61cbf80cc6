package rest

import (
	"runtime"
	"strings"
	"testing"

	"lipsync/internal/domain/failure"
)

// TestManyVariants reads bodies with very many variants in little memory.
func TestManyVariants(t *testing.T) {
	for name, read := range map[string]func() error{
		"JSON": func() error {
			_, err := parseJSON[batchBody]([]byte(`{"variants":[` + strings.Repeat("{},", MaxBatchBody/3) + `{}]}`))
			return err
		},
		"JSON Lines": func() error {
			_, err := parseVariants([]byte(strings.Repeat("{}\n", MaxBatchBody/3)))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := read()
			runtime.ReadMemStats(&after)
			if failure.MessageOf(err) != "a batch has 1 to 1000 lines" {
				t.Errorf("got %v, want a refusal of their number", err)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 8*MaxBatchBody {
				t.Errorf("%d MiB were allocated, want 32 at most", allocated>>20)
			}
		})
	}
}

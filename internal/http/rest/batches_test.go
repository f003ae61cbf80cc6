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

// TestOneValueEachLine refuses lines of JSON Lines that have more than one value, and no others.
func TestOneValueEachLine(t *testing.T) {
	const line = `{"video":"http://x.example","audio":"http://y.example"}`
	all, err := parseVariants([]byte(line + " \t\r\n\n" + line + line + "\n" + line + " 1\n" + line + "}\n" + line))
	if err != nil || len(all) != 5 {
		t.Fatalf("got %d lines (%v), want 5", len(all), err)
	}
	for i, refused := range []bool{false, true, true, true, false} {
		if got := all[i].Err; (got != nil) != refused || refused && failure.MessageOf(got) != "invalid request body" {
			t.Errorf("line %d: got %v, want refused: %t", i+1, got, refused)
		}
	}
}

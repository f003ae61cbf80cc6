package service_test

import (
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/check"
)

// TestRequireProvenance refuses outputs that can't be signed, if all must be.
func TestRequireProvenance(t *testing.T) {
	f := newFixture(t)
	webm := urls()
	webm.Output.Format = order.WebM
	_, err := f.Generate(t.Context(), f.caller, webm)
	check.Must(t, err)
	f.RequireProvenance = true
	_, err = f.Generate(t.Context(), f.caller, webm)
	check.Error(t, "WebM", err, failure.Invalid, "format must be one that can be signed, since this service signs all outputs: mp4, mov")
	mov := urls()
	mov.Output.Format = order.MOV
	_, err = f.Generate(t.Context(), f.caller, mov)
	check.Must(t, err)
}

package lipsync_test

import (
	"testing"

	"lipsync/internal/domain/lipsync"
)

// TestRequireProvenance refuses outputs that can't be signed, if all must be.
func TestRequireProvenance(t *testing.T) {
	f := newFixture(t)
	webm := urls()
	webm.Output.Format = lipsync.WebM
	_, err := f.Generate(t.Context(), f.caller, webm)
	must(t, err)
	f.RequireProvenance = true
	_, err = f.Generate(t.Context(), f.caller, webm)
	wantError(t, "WebM", err, lipsync.Invalid, "format must be one that can be signed, since this service signs all outputs: mp4, mov")
	mov := urls()
	mov.Output.Format = lipsync.MOV
	_, err = f.Generate(t.Context(), f.caller, mov)
	must(t, err)
}

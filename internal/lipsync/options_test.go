package lipsync_test

import (
	"encoding"
	"testing"

	"lipsync/internal/lipsync"
)

// TestOptions reads the names of options, and one that does not exist.
func TestOptions(t *testing.T) {
	var o lipsync.Options
	for _, c := range []struct {
		option encoding.TextUnmarshaler
		names  []string // in the order of their values
		value  func() int
		refuse string
	}{
		{&o.SyncMode, []string{"bounce", "loop", "cut_off", "silence", "remap"}, func() int { return int(o.SyncMode) },
			"sync_mode must be one of: bounce, loop, cut_off, silence, remap"},
		{&o.Silence, []string{"rest", "keep"}, func() int { return int(o.Silence) }, "silence must be one of: rest, keep"},
		{&o.NoFace, []string{"keep", "fail"}, func() int { return int(o.NoFace) }, "no_face must be one of: keep, fail"},
	} {
		for i, name := range c.names {
			must(t, c.option.UnmarshalText([]byte(name)))
			want(t, name, c.value(), i)
		}
		for _, name := range []string{"", "Bounce", "reste"} {
			wantError(t, name, c.option.UnmarshalText([]byte(name)), lipsync.Invalid, c.refuse)
		}
	}
	want(t, "values", o, lipsync.Options{SyncMode: lipsync.Remap, Silence: lipsync.KeepSilent, NoFace: lipsync.FailFaceless})
}

func TestWarnings(t *testing.T) {
	var none lipsync.Warnings
	want(t, "number of no warnings", len(none.Texts()), 0)
	w := none.With("of_a_newer_version").With(lipsync.ConvertedHDR)
	want(t, "codes", w, "of_a_newer_version converted_hdr")
	texts := w.Texts()
	want(t, "number of texts", len(texts), 1)
	want(t, "text", texts[0], "HDR input was converted to SDR")
}

package worker

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/lipsynctest"
)

// counter is a Signer that counts its calls.
type counter int

func (c *counter) Sign(context.Context, string, order.Origin) error {
	*c++
	return nil
}

func (*counter) Check(context.Context) error { return nil }

// TestSignLarge doesn't sign an output whose copies may not fit on the disk, unless all must be signed: then the job had a limit.
func TestSignLarge(t *testing.T) {
	for _, c := range []struct {
		size     int64
		required bool
		want     counter
		warnings order.Warnings
	}{
		{order.MostSigned, false, 1, order.Signed},
		{order.MostSigned + 1, false, 0, order.NotSigned},
		{order.MostSigned + 1, true, 1, order.Signed},
	} {
		path := filepath.Join(t.TempDir(), "output.mov")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, c.size); err != nil { // it takes no space
			t.Fatal(err)
		}
		var signed counter
		w := &Worker{c: Config{Work: lipsynctest.NewService(t, base.Config{RequireProvenance: c.required}, base.Ports{}).Work, Signer: &signed}}
		r := lipsync.Request{Size: c.size}
		r.Options.Output.Format = order.MOV
		warning, err := w.sign(t.Context(), r, path, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Error(err)
		}
		r.Warnings = warning
		if signed != c.want || r.Warnings != c.warnings || r.Unsigned() {
			t.Errorf("%d bytes, required %t: signed %d times, warnings %q, unsigned %t", c.size, c.required, signed, r.Warnings, r.Unsigned())
		}
	}
}

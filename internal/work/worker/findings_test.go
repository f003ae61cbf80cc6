package worker_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/render"
)

// TestFindings does requests of two accounts. Each finds what an earlier one of the same account kept about the same content, whatever
// its URL, unless the service keeps nothing.
func TestFindings(t *testing.T) {
	var found string
	f := setup(t, func(ctx context.Context, j render.Job) error {
		found = "off"
		if j.Findings == nil {
			return concatenate(ctx, j)
		}
		found = ""
		if r, err := j.Findings.Open(ctx, "name"); err == nil {
			text, err := io.ReadAll(r)
			if found = string(text); errors.Join(err, r.Close()) != nil {
				return err
			}
		}
		return errors.Join(j.Findings.Keep(ctx, "name", strings.NewReader("of "+j.Audio[len(j.Audio)-1:]+found)), concatenate(ctx, j))
	})
	other := f.caller
	other.Account = "other"
	do := func(c lipsync.Caller, video, want string) {
		t.Helper()
		id, err := f.Service.Generate(t.Context(), c, requests.Params{
			Video: requests.Source{URL: "http://web/" + video}, Audios: []requests.Track{{Source: requests.Source{URL: "http://web/audio"}}},
		})
		if err != nil || !f.Do(t.Context(), id) {
			t.Fatal(err)
		}
		if found != want {
			t.Errorf("%s of %s: found %q, want %q", video, c.Account, found, want)
		}
	}
	do(f.caller, "video", "off")
	f.Service.Limits.Keep.Findings = time.Hour
	do(f.caller, "video", "")
	do(f.caller, "video", "of 0")
	do(other, "video", "")
	do(f.caller, "video2", "")
}

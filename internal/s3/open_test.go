package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
)

const downloaded = 5<<20 + 1 // bytes

// TestDownloadBreaks lets each connection break after 1 MiB.
func TestDownloadBreaks(t *testing.T) {
	h := newHome(t)
	text := noise(downloaded)
	must(t, h.Put(t.Context(), key, bytes.NewReader(text), -1))
	for _, end := range []error{errBroken, io.ErrUnexpectedEOF, io.EOF} {
		h.wire.cutDownload = func(body io.Reader) io.Reader { return &breaking{body, 1 << 20, end} }
		h.want(t, text)
	}
	calls := 0
	h.wire.cutDownload = func(body io.Reader) io.Reader { // the first brings nothing
		calls++
		if calls == 1 {
			return &breaking{body, 0, errBroken}
		}
		return body
	}
	h.want(t, text)
}

// TestDownloadFails lets downloads break in ways that can't be mended. None may
// look like the end of the object.
func TestDownloadFails(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, h *home){
		"gone for good": func(_ *testing.T, h *home) {
			h.wire.cutDownload = func(body io.Reader) io.Reader { return &breaking{body, 0, io.EOF} }
		},
		"replaced": func(t *testing.T, h *home) {
			must(t, h.Put(t.Context(), key, bytes.NewReader(noise(downloaded*2)), -1))
		},
		"deleted": func(t *testing.T, h *home) { must(t, h.Delete(t.Context(), key)) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			must(t, h.Put(t.Context(), key, bytes.NewReader(noise(downloaded)), -1))
			h.wire.cutDownload = func(body io.Reader) io.Reader { return &breaking{body, 1 << 20, io.EOF} }
			r, _, err := h.Open(t.Context(), key)
			must(t, err)
			defer r.Close()
			h.wire.cutDownload = nil
			harm(t, h)
			if got, err := io.ReadAll(r); err == nil || errors.Is(err, io.EOF) || len(got) != 1<<20 {
				t.Errorf("got %d bytes and error %v, want 1 MiB and an error other than the end", len(got), err)
			}
		})
	}
}

// TestDownloadCanceled ends the context in the middle.
func TestDownloadCanceled(t *testing.T) {
	h := newHome(t)
	must(t, h.Put(t.Context(), key, bytes.NewReader(noise(downloaded)), -1))
	ctx, cancel := context.WithCancel(t.Context())
	r, _, err := h.Open(ctx, key)
	must(t, err)
	defer r.Close()
	cancel()
	if _, err := io.ReadAll(r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
}

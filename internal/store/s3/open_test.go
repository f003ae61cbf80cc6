package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"lipsync/internal/test/check"
)

const downloaded = 5<<20 + 1 // bytes

// TestDownloadBreaks breaks each connection after 1 MiB.
func TestDownloadBreaks(t *testing.T) {
	f := newFixture(t)
	text := noise(downloaded)
	check.Must(t, f.Put(t.Context(), key, bytes.NewReader(text), -1))
	for _, end := range []error{errBroken, io.ErrUnexpectedEOF, io.EOF} {
		f.wire.cutDownload = func(body io.Reader) io.Reader { return &breaking{body, 1 << 20, end} }
		f.want(t, text)
	}
	calls := 0
	f.wire.cutDownload = func(body io.Reader) io.Reader { // the first delivers nothing
		calls++
		if calls == 1 {
			return &breaking{body, 0, errBroken}
		}
		return body
	}
	f.want(t, text)
}

// TestPartBreaks breaks each connection that delivers a part after 1 MiB.
func TestPartBreaks(t *testing.T) {
	f := newFixture(t)
	text := noise(downloaded)
	check.Must(t, f.Put(t.Context(), key, bytes.NewReader(text), -1))
	f.wire.cutDownload = func(body io.Reader) io.Reader { return &breaking{body, 1 << 20, errBroken} }
	version, _, err := f.Version(t.Context(), key)
	check.Must(t, err)
	r, err := f.OpenPart(t.Context(), key, version, 1000, 3<<20)
	check.Must(t, err)
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, text[1000:1000+3<<20]) {
		t.Errorf("got %d bytes, %v, want the part", len(got), err)
	}
}

// TestDownloadFails breaks downloads in ways that can't be repaired. None may look like the end of
// the object.
func TestDownloadFails(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, f *fixture){
		"gone for good": func(_ *testing.T, f *fixture) {
			f.wire.cutDownload = func(body io.Reader) io.Reader { return &breaking{body, 0, io.EOF} }
		},
		"replaced": func(t *testing.T, f *fixture) {
			check.Must(t, f.Put(t.Context(), key, bytes.NewReader(noise(downloaded*2)), -1))
		},
		"deleted": func(t *testing.T, f *fixture) { check.Must(t, f.Delete(t.Context(), key)) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			check.Must(t, f.Put(t.Context(), key, bytes.NewReader(noise(downloaded)), -1))
			f.wire.cutDownload = func(body io.Reader) io.Reader { return &breaking{body, 1 << 20, io.EOF} }
			r, _, err := f.Open(t.Context(), key)
			check.Must(t, err)
			defer r.Close()
			f.wire.cutDownload = nil
			harm(t, f)
			if got, err := io.ReadAll(r); err == nil || errors.Is(err, io.EOF) || len(got) != 1<<20 {
				t.Errorf("got %d bytes and error %v, want 1 MiB and an error other than the end", len(got), err)
			}
		})
	}
}

// TestDownloadCanceled cancels the context in the middle of a download.
func TestDownloadCanceled(t *testing.T) {
	f := newFixture(t)
	check.Must(t, f.Put(t.Context(), key, bytes.NewReader(noise(downloaded)), -1))
	ctx, cancel := context.WithCancel(t.Context())
	r, _, err := f.Open(ctx, key)
	check.Must(t, err)
	defer r.Close()
	cancel()
	if _, err := io.ReadAll(r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
}

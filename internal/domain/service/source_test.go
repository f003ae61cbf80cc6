package service_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/test/check"
)

const badVideoURL = "video URL must be an absolute http or https URL with a host, no user name and at most 8192 bytes"

func TestSourceURLs(t *testing.T) {
	f := newFixture(t)
	base := "https://example.com/"
	for address, ok := range map[string]bool{
		"http://example.com":                       true,
		"HTTPS://Example.com:8443/a b?x=%20#f":     true,
		"http://[::1]/v.mp4":                       true,
		"http://münchen.de/ü":                      true,
		base + strings.Repeat("x", 8192-len(base)): true,
		base + strings.Repeat("x", 8193-len(base)): false,
		"":                        false,
		"example.com/v.mp4":       false,
		"/v.mp4":                  false,
		"//example.com/v.mp4":     false,
		"http:example.com":        false,
		"http:///v.mp4":           false,
		"http://:80/v.mp4":        false,
		"ftp://example.com/v":     false,
		"file:///etc/passwd":      false,
		"http://u:p@example.com":  false,
		"http://@example.com":     false,
		"http://example.com/\n":   false,
		"http://example.com/\x7f": false,
		"http://example.com/\xff": false,
		"http://exa mple.com/":    false,
		" http://example.com/":    false,
		"Upload://x":              false,
	} {
		n := urls()
		n.Video.URL = address
		_, err := f.Generate(t.Context(), f.caller, n)
		if ok {
			check.Error(t, address, err, "", "")
		} else {
			check.Error(t, address, err, failure.Invalid, badVideoURL)
		}
	}
}

// FuzzSourceURL checks that every accepted URL is one that the fetcher may get.
func FuzzSourceURL(f *testing.F) {
	for _, address := range []string{"http://example.com/v", "https://[::1]:1/", "http://a@b/", "upload://x", "http:///", "http://\x00/", "http://a/%zz"} {
		f.Add(address)
	}
	fx := newFixture(f)
	f.Fuzz(func(t *testing.T, address string) {
		n := urls()
		n.Audios[0].URL = address
		id, err := fx.Generate(t.Context(), fx.caller, n)
		if err != nil {
			if failure.CodeOf(err) != failure.Invalid {
				t.Errorf("got %v, want an Invalid", err)
			}
			return
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
			t.Errorf("accepted %q: %v", address, err)
		}
		r, err := fx.Store.Requests.ByID(t.Context(), id)
		check.Must(t, err)
		check.Want(t, "stored URL", r.Audio.URL, address)
		_, err = fx.Cancel(t.Context(), fx.caller, id) // an account may have only so many open requests
		check.Must(t, err)
	})
}

// upload announces an upload of 5 bytes and stores the text as its file.
func (f *fixture) upload(t *testing.T, kind failure.MediaKind, text string) requests.SignedUpload {
	t.Helper()
	u, err := f.CreateUpload(t.Context(), f.caller, requests.UploadParams{Kind: kind, Size: 5})
	check.Must(t, err)
	if text != "" {
		check.Must(t, f.Objects.Put(t.Context(), u.Object, strings.NewReader(text), -1))
	}
	return u
}

func TestUploadSources(t *testing.T) {
	f := newFixture(t)
	_, stranger := f.newCaller(t, "b", 0)
	expired := f.upload(t, failure.Video, "fives")
	f.clock.Advance(24 * time.Hour)
	good := f.upload(t, failure.Video, "fives")
	for _, c := range []struct {
		name, source, message string
		caller                lipsync.Caller
	}{
		{"good", good.Source, "", f.caller},
		{"good again", good.Source, "", f.caller},
		{"another account's", good.Source, "video upload does not exist", stranger},
		{"missing", "upload://never", "video upload does not exist", f.caller},
		{"no id", "upload://", "video upload does not exist", f.caller},
		{"expired", expired.Source, "video upload has expired", f.caller},
		{"empty", f.upload(t, failure.Video, "").Source, "video upload is not complete", f.caller},
		{"short", f.upload(t, failure.Video, "four").Source, "video upload is not complete", f.caller},
		{"other kind", f.upload(t, failure.Audio, "fives").Source, "video upload was announced as audio", f.caller},
	} {
		n := urls()
		n.Video.URL = c.source
		id, err := f.Generate(t.Context(), c.caller, n)
		if c.message != "" {
			check.Error(t, c.name, err, failure.Invalid, c.message)
			continue
		}
		check.Must(t, err)
		r, err := f.Store.Requests.ByID(t.Context(), id)
		check.Must(t, err)
		check.Want(t, c.name, r.Video, lipsync.Input{Object: good.Object})
	}
}

// TestSourceAgain checks the sources for inputs in another request. A source that Generate would
// refuse is "".
func TestSourceAgain(t *testing.T) {
	f := newFixture(t)
	_, stranger := f.newCaller(t, "b", 0)
	u := f.upload(t, failure.Video, "fives")
	empty := f.upload(t, failure.Video, "")
	check := func(name string, c lipsync.Caller, kind failure.MediaKind, i lipsync.Input, wanted string) {
		t.Helper()
		got, err := f.SourceAgain(t.Context(), c, kind, i)
		check.Must(t, err)
		check.Want(t, name, got, wanted)
	}
	check("upload", f.caller, failure.Video, lipsync.Input{Object: u.Object}, u.Source)
	check("URL", f.caller, failure.Audio, lipsync.Input{URL: "https://example.com/a.wav"}, "https://example.com/a.wav")
	check("file of a form", f.caller, failure.Video, lipsync.Input{Object: "requests/x/video"}, "")
	check("another account's", stranger, failure.Video, lipsync.Input{Object: u.Object}, "")
	check("gone", f.caller, failure.Video, lipsync.Input{Object: empty.Object}, "")
	f.clock.Advance(lipsync.Retention{}.InputLife())
	check("expired", f.caller, failure.Video, lipsync.Input{Object: u.Object}, "")
}

// TestUploadReplay repeats a call after the time at which the unused upload would have expired.
func TestUploadReplay(t *testing.T) {
	f := newFixture(t)
	n := urls()
	n.Video.URL = f.upload(t, failure.Video, "fives").Source
	n.IdempotencyKey = new("k")
	f.clock.Advance(23 * time.Hour)
	id, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	f.clock.Advance(23 * time.Hour)
	check.Must(t, f.Sweep(t.Context()))
	again, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	check.Want(t, "replayed id", again, id)
}

// TestForetell creates uploads for which a small request may come. One a minute tells that, and nobody gets an error if it can't.
func TestForetell(t *testing.T) {
	f := newFixture(t)
	foretold := 0
	f.Foretell = func(context.Context) error { foretold++; return errors.New("queue is down") }
	for _, c := range []struct {
		after time.Duration
		size  int64
		told  int
	}{{0, 300 << 20, 0}, {0, 256 << 20, 1}, {59 * time.Second, 1, 1}, {time.Second, 300 << 20, 1}, {0, 1, 2}, {time.Second, 1, 2}} {
		f.clock.Advance(c.after)
		_, err := f.CreateUpload(t.Context(), f.caller, requests.UploadParams{Kind: failure.Video, Size: c.size})
		check.Must(t, err)
		check.Want(t, fmt.Sprintf("times that it was told, with %+v", c), foretold, c.told)
	}
}

func TestCreateUpload(t *testing.T) {
	f := newFixture(t)
	u, err := f.CreateUpload(t.Context(), f.caller, requests.UploadParams{Kind: failure.Audio, Size: 500 << 20, ContentType: "audio/wav; codecs=1"})
	check.Must(t, err)
	check.Want(t, "source", u.Source, "upload://"+u.ID)
	check.Want(t, "expires", u.ExpiresAt, f.clock.Now().Add(24*time.Hour))
	check.Want(t, "header", u.Headers.Get("Content-Type"), "audio/wav; codecs=1")
	stored, err := f.Store.Uploads.ByID(t.Context(), u.ID)
	check.Must(t, err)
	check.Want(t, "stored", stored, u.Upload)

	const badType = "content_type must be a media type such as video/mp4"
	for _, c := range []struct {
		kind        failure.MediaKind
		size        int64
		contentType string
		code        failure.Code
		message     string
	}{
		{failure.Video, 5 << 30, "", "", ""},
		{failure.Video, 5<<30 + 1, "", failure.TooLarge, "video is larger than 5 GiB: 5368709121 bytes"},
		{failure.Audio, 500<<20 + 1, "", failure.TooLarge, "audio is larger than 500 MiB: 524288001 bytes"},
		{failure.Video, 0, "", failure.Invalid, "size must be at least 1"},
		{failure.Video, -1, "", failure.Invalid, "size must be at least 1"},
		{"", 1, "", failure.Invalid, `type must be "video" or "audio"`},
		{"image", 1, "", failure.Invalid, `type must be "video" or "audio"`},
		{failure.Video, 1, "video/mp4\r\nX: y", failure.Invalid, badType},
		{failure.Video, 1, "video/", failure.Invalid, badType},
		{failure.Video, 1, "a/" + strings.Repeat("b", 300), failure.Invalid, badType},
	} {
		_, err := f.CreateUpload(t.Context(), f.caller, requests.UploadParams{Kind: c.kind, Size: c.size, ContentType: c.contentType})
		check.Error(t, string(c.kind)+c.contentType, err, c.code, c.message)
	}
}

package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/s3"

	"lipsync/internal/store/s3"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/check"
	"lipsync/internal/test/lipsynctest"
)

func TestObjects(t *testing.T) {
	e := awstest.Enforcing(t)
	lipsynctest.TestObjects(t, func(t *testing.T) lipsynctest.ObjectsFixture {
		return lipsynctest.ObjectsFixture{
			Objects: s3.New(e.Config(), e.Bucket(t), s3.Signer{}), Now: time.Now, Sleep: time.Sleep, Lax: unsigned,
		}
	})
}

// unsigned reports whether a query names its signer but has no complete signature. The emulator
// accepts such a query; S3 answers AuthorizationQueryParametersError.
func unsigned(query url.Values) bool {
	return query.Has("X-Amz-Credential") &&
		(query.Get("X-Amz-Algorithm") != "AWS4-HMAC-SHA256" || !query.Has("X-Amz-Signature"))
}

// wire can break connections to the emulator.
type wire struct {
	send        func(r *http.Request) error // may change the request
	cutDownload func(body io.Reader) io.Reader
}

// cut breaks the connection in the middle of the body, before all announced bytes were sent.
func cut(r *http.Request) {
	r.Body = io.NopCloser(&breaking{r.Body, int(r.ContentLength / 2), errBroken})
}

func (w *wire) Do(r *http.Request) (*http.Response, error) {
	if w.send != nil {
		if err := w.send(r); err != nil {
			return nil, err
		}
	}
	response, err := http.DefaultClient.Do(r)
	if err == nil && w.cutDownload != nil && r.Method == http.MethodGet {
		response.Body = struct {
			io.Reader
			io.Closer
		}{w.cutDownload(response.Body), response.Body}
	}
	return response, err
}

var errBroken = errors.New("connection broken")

// breaking reads r, and returns err if r has not ended after left bytes.
type breaking struct {
	r    io.Reader
	left int
	err  error
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.err
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// fixture is objects on a bucket, with a wire between them.
type fixture struct {
	*s3.Objects
	wire   *wire
	client *sdk.Client
	bucket string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	e := awstest.Enforcing(t)
	f := &fixture{wire: &wire{}, bucket: e.Bucket(t)}
	cfg := e.Config()
	f.client = sdk.NewFromConfig(cfg, func(o *sdk.Options) { o.UsePathStyle = true })
	cfg.HTTPClient = f.wire
	f.Objects = s3.New(cfg, f.bucket, s3.Signer{})
	return f
}

// unfinished counts multipart uploads that were neither completed nor aborted.
func (f *fixture) unfinished(t *testing.T) int {
	t.Helper()
	out, err := f.client.ListMultipartUploads(t.Context(), &sdk.ListMultipartUploadsInput{Bucket: &f.bucket})
	check.Must(t, err)
	return len(out.Uploads)
}

const key = "outputs/a.mp4"

func (f *fixture) want(t *testing.T, text []byte) {
	t.Helper()
	r, size, err := f.Open(t.Context(), key)
	check.Must(t, err)
	defer r.Close()
	got, err := io.ReadAll(r)
	check.Must(t, err)
	if size != int64(len(text)) || !bytes.Equal(got, text) {
		t.Errorf("got %d bytes and size %d, want the %d that were put", len(got), size, len(text))
	}
}

// noise returns random bytes, so that no two parts are equal.
func noise(size int) []byte {
	text := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(text) // never fails
	return text
}

// TestListPages lists more objects than one answer holds: here 3, since to make 1001 takes half a minute.
func TestListPages(t *testing.T) {
	f := newFixture(t)
	const n = 7
	for i := range n {
		check.Must(t, f.Put(t.Context(), fmt.Sprintf("inputs/%d/video", i), strings.NewReader("x"), 1))
	}
	answers := 0
	f.wire.send = func(r *http.Request) error {
		r.URL.RawQuery += "&max-keys=3"
		answers++
		return nil
	}
	seen := map[string]bool{}
	check.Must(t, f.List(t.Context(), "inputs/", func(key string, _ time.Time) error { seen[key] = true; return nil }))
	if len(seen) != n || answers != 3 {
		t.Errorf("got %d objects in %d answers, want %d in 3", len(seen), answers, n)
	}
}

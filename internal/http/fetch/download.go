package fetch

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// download is one fetch, over as many connections as needed.
type download struct {
	client *Client
	url    string
	w      io.Writer
	limit  int64

	came    atomic.Int64 // bytes read
	done    int64        // bytes written
	size    int64        // of the file, as the first answer says; -1 if it doesn't
	version string       // tells whether the file is still the same; "" if that can't be told, or it isn't
}

// get requests the missing bytes and writes them.
func (d *download) get(parent context.Context) error {
	ctx, stop := context.WithCancel(parent)
	defer stop()
	response, err := d.ask(ctx)
	if err != nil {
		return err
	}
	body := newBody(response, d.client.options.Stall, stop, &d.came)
	defer body.Close()
	if err := d.accept(response); err != nil {
		return err
	}
	if response.ContentLength > d.limit-d.done {
		return errTooLarge
	}
	content, err := d.decoded(response.Header, body)
	if err != nil {
		return err
	}
	n, err := io.Copy(d.w, io.LimitReader(content, d.limit-d.done+1))
	d.done += n
	if d.done > d.limit {
		return errTooLarge
	}
	if err != nil && !body.failed {
		return &writeError{err}
	}
	if err == nil && d.size >= 0 && d.done != d.size {
		err = errors.New("the answer is only a part") // of the requested rest, which is a valid answer
	}
	return d.cut(err)
}

// cut returns the error of a body that ended with err, nil for nil.
func (d *download) cut(err error) error {
	if err == nil {
		return nil
	}
	return &cutError{d.done, d.size, err}
}

// continues reports whether another connection could bring the rest of the file.
func (d *download) continues() bool { return d.done > 0 && d.version != "" }

// decoded returns the file in a body. A server may compress it, even though this client asks it not to. Then the fetch can't continue, and
// the length of the file isn't known.
func (d *download) decoded(h http.Header, b *body) (io.Reader, error) {
	switch encoding := strings.ToLower(h.Get("Content-Encoding")); encoding {
	case "", "identity":
		return b, nil
	case "gzip", "x-gzip":
		d.size, d.version = -1, ""
		packed, err := gzip.NewReader(b)
		switch {
		case err == nil:
			return unpacked{packed, b}, nil
		case b.failed:
			return nil, d.cut(err)
		case err == io.EOF, err == io.ErrUnexpectedEOF: // within the header
			return nil, d.cut(errDamaged)
		}
		return nil, refused("the server said that it compressed the file, and didn't")
	default:
		return nil, refused(fmt.Sprintf("the server compressed the file by %.20q", encoding))
	}
}

// unpacked reads a body that is compressed. Data that can't be unpacked counts as a cut.
type unpacked struct {
	*gzip.Reader
	body *body
}

func (u unpacked) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if err != nil && err != io.EOF && !u.body.failed {
		u.body.failed, err = true, errDamaged
	}
	return n, err
}

// ask requests the missing bytes.
func (d *download) ask(ctx context.Context) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return nil, refused(withoutURL(err).Error())
	}
	if err := checkURL(request.URL); err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", d.client.agent())
	request.Header.Set("Accept-Encoding", "identity")
	if d.done > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.done))
		request.Header.Set("If-Range", d.version)
	}
	return d.client.http.Do(request)
}

// accept checks that the answer is the file, or its rest.
func (d *download) accept(r *http.Response) error {
	switch {
	case d.done == 0 && r.StatusCode == http.StatusOK:
		d.size, d.version = r.ContentLength, versionOf(r.Header)
		return nil
	case d.done > 0 && r.StatusCode == http.StatusPartialContent && d.isRest(r.Header):
		return nil
	case d.done > 0 && (r.StatusCode/100 == 2 || r.StatusCode == http.StatusRequestedRangeNotSatisfiable):
		d.version = ""
		return errChanged
	}
	return &statusError{r.StatusCode, retryAfter(r.Header)}
}

// isRest reports whether an answer continues where the last one ended. The answer need not name
// the version, but if it does, the version must match: some servers send a range whatever the
// version.
func (d *download) isRest(h http.Header) bool {
	name := "Last-Modified"
	if strings.HasPrefix(d.version, `"`) {
		name = "ETag"
	}
	version := h.Get(name)
	return (version == "" || version == d.version) && strings.HasPrefix(h.Get("Content-Range"), fmt.Sprintf("bytes %d-", d.done))
}

// versionOf returns the file's version for an If-Range header (RFC 9110, 13.1.5): a strong entity
// tag, or a modification time at least a second before the answer.
func versionOf(h http.Header) string {
	if tag := h.Get("ETag"); strings.HasPrefix(tag, `"`) {
		return tag
	}
	changed, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil || h.Get("ETag") != "" {
		return ""
	}
	sent, err := http.ParseTime(h.Get("Date"))
	if err != nil || sent.Sub(changed) < time.Second {
		return ""
	}
	return h.Get("Last-Modified")
}

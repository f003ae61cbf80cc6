package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"lipsync/internal/domain/failure"
)

// Send puts the first size bytes of the file at the URL, by PUT, as object stores take them at signed
// URLs. It returns NotFound if the URL is at fault: also if the server redirects, or refuses the file.
// The errors PrivateHost, NoHost, Unavailable and TooSlow are those of Fetch, and any other error means
// that this machine fails or ctx ends. In the chain of an error, the server's answer has the method
// HTTPStatusCode.
//
// Faults that may pass are tried again, maxCuts times within half a minute, unless the server asks for
// a longer pause. So a server may get a file more than once.
func (c *Client) Send(ctx context.Context, rawURL string, file io.ReaderAt, size int64, mediaType string) error {
	bounded, stop := context.WithTimeout(ctx, c.options.Total)
	defer stop()
	for cut := 0; ; cut++ {
		err := explain(c.put(bounded, rawURL, io.NewSectionReader(file, 0, size), mediaType))
		pause := c.pause << cut
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case bounded.Err() != nil || errors.Is(err, errPace):
			return &failure.Error{Code: failure.TooSlow, Message: "file is taken too slowly", Err: err}
		case cut == maxCuts || !mayPass(err, pause):
			return err
		}
		wait(bounded, pause)
	}
}

// mayPass reports whether another try after the pause may succeed.
func mayPass(err error, pause time.Duration) bool {
	e, ok := err.(*failure.Error)
	return ok && (e.Code == failure.Unavailable || e.Code == failure.NoHost) && e.RetryAfter <= pause
}

// put sends the file once. It reads nothing of the answer except its header: the bodies of object
// stores repeat signatures.
func (c *Client) put(parent context.Context, rawURL string, file *io.SectionReader, mediaType string) error {
	var taken atomic.Int64
	paced, stop := c.paced(parent, &taken)
	defer stop()
	ctx, end := context.WithCancelCause(paced)
	defer end(nil)
	stall := c.options.Stall
	body := &sending{file, &taken, stall, time.AfterFunc(stall, func() { end(fmt.Errorf("nothing was taken for %s", stall)) })}
	defer body.Close()
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, rawURL, body)
	if err != nil {
		return refused(withoutURL(err).Error())
	}
	if err := checkURL(request.URL); err != nil {
		return err
	}
	request.ContentLength = file.Size() // S3 refuses chunks
	request.Header.Set("User-Agent", c.agent())
	request.Header.Set("Content-Type", mediaType)
	request.Header.Set("Expect", "100-continue")      // a server that refuses can say so before the file is sent
	request.Header.Set("x-ms-blob-type", "BlockBlob") // Azure requires it, others ignore it
	response, err := c.sender.Do(request)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode/100 != 2 {
		return &statusError{response.StatusCode, retryAfter(response.Header)}
	}
	return nil
}

// sending is the body of a request. If nothing is read for a while, the timer ends the request. Once all
// is read, http.Transport waits for the answer, for as long.
type sending struct {
	io.Reader
	taken   *atomic.Int64 // bytes that were read
	stall   time.Duration
	stalled *time.Timer
}

func (s *sending) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.taken.Add(int64(n))
	if err == nil {
		s.stalled.Reset(s.stall)
	} else {
		s.stalled.Stop()
	}
	return n, err
}

func (s *sending) Close() error {
	s.stalled.Stop()
	return nil
}

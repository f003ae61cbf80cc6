package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"lipsync/internal/domain/failure"
	"lipsync/internal/http/rest"
)

// Upload is an announced upload.
type Upload struct {
	UploadURL string            `json:"upload_url"` // the signed URL to which the file goes, by PUT
	Headers   map[string]string `json:"headers"`    // headers of that PUT
	URL       string            `json:"url"`        // names the upload as an input
	ExpiresAt string            `json:"expires_at"` // when UploadURL ends
}

// Announcement is the body of the call that announces an upload.
type Announcement struct {
	Type     failure.MediaKind `json:"type"`
	Size     int64             `json:"size"` // bytes
	FileName string            `json:"file_name,omitzero"`
}

// Announce announces an upload.
func (c *Client) Announce(ctx context.Context, a Announcement) (u Upload, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: rest.UploadsPath, body: a}, &u)
	return u, err
}

// Send uploads a file and returns the URL that names it as an input. It calls sent with the bytes that went out, of how
// many; after a fault both begin again.
func (c *Client) Send(ctx context.Context, kind failure.MediaKind, path string, sent func(done, total int64)) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	var u Upload
	err = c.Retry.do(ctx, func(ctx context.Context) (err error) {
		if u.UploadURL == "" {
			if u, err = c.Announce(ctx, Announcement{kind, info.Size(), filepath.Base(path)}); err != nil {
				return err
			}
		}
		err = c.put(ctx, u, file, info.Size(), sent)
		if answer, ok := errors.AsType[*Error](err); ok && answer.Status == http.StatusForbidden {
			u = Upload{} // its signed URL has ended
			return &Error{Status: http.StatusRequestTimeout, Message: answer.Message}
		}
		return err
	})
	return u.URL, err
}

// put sends a file to the signed URL of the upload.
func (c *Client) put(ctx context.Context, u Upload, file *os.File, size int64, sent func(done, total int64)) error {
	body := &counted{r: io.NewSectionReader(file, 0, size), size: size, sent: sent}
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, u.UploadURL, io.NopCloser(body))
	if err != nil {
		return err
	}
	r.ContentLength = size
	for name, value := range u.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Expect", "100-continue") // a refusal comes before the file goes out
	answer, err := c.ask(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return refusal(answer)
}

// counted counts the bytes that are read.
type counted struct {
	r          io.Reader
	done, size int64
	sent       func(done, total int64)
}

var _ io.Reader = (*counted)(nil)

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.done += int64(n)
	c.sent(c.done, c.size)
	return n, err
}

// Download writes the output of a completed request to a file that does not exist yet. After a fault it begins again,
// with a new link.
func (c *Client) Download(ctx context.Context, r Request, path string, got func(done, total int64)) error {
	return c.Retry.do(ctx, func(ctx context.Context) (err error) {
		if r.OutputURL == "" {
			if r, err = c.Request(ctx, r.ID); err != nil {
				return err
			}
		}
		link := r.OutputURL
		r.OutputURL = ""
		return c.fetch(ctx, link, path, got)
	})
}

// fetch writes what the URL has to a file.
func (c *Client) fetch(ctx context.Context, link, path string, got func(done, total int64)) (err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil {
		return err
	}
	answer, err := c.ask(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if err := refusal(answer); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = io.Copy(file, &counted{r: answer.Body, size: answer.ContentLength, sent: got})
	return err
}

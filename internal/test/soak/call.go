package soak

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	callTime   = time.Minute
	retryPause = 500 * time.Millisecond
)

// generate sends the form until the answer is not an error of the service, and returns the answer.
func (l *Load) generate(ctx context.Context, j *job) string {
	for {
		status, body, err := l.call(ctx, j, http.MethodPost, "generate-with-media", l.form)
		switch {
		case err == nil && status == http.StatusOK:
			return body
		case err == nil && !isFault(status):
			l.wrong(func(r *Report) {
				r.Lost = append(r.Lost, fmt.Sprintf("%s: refused with %d %s", j.key, status, body))
			})
			return ""
		}
		if !pause(ctx, retryPause) {
			return ""
		}
	}
}

// get reads the request. It returns "" if that failed.
func (l *Load) get(ctx context.Context, j *job) string {
	status, body, err := l.call(ctx, j, http.MethodGet, "requests/"+j.id, nil)
	if err != nil || isFault(status) {
		return ""
	}
	return body
}

// isFault reports whether the status is a service's internal error or a rate limit.
func isFault(status int) bool { return status >= 500 || status == http.StatusTooManyRequests }

// call makes one call, during which the service may be killed.
func (l *Load) call(ctx context.Context, j *job, method, path string, form []byte) (status int, answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, l.Base()+"/api/v1/lipsync/"+path, bytes.NewReader(form))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Authorization", "Bearer "+j.token)
	if form != nil {
		r.Header.Set("Content-Type", l.formType)
		r.Header.Set("Idempotency-Key", j.key)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"

	"lipsync/internal/http/rest"
)

// testClient calls the HTTP API as tests do: without a retry.
type testClient struct{ base, token string }

// request has the fields of a lip sync request that tests read.
type request struct {
	Status       string `json:"status"`
	OutputURL    string `json:"output_url"`
	ErrorMessage string `json:"error_message"`
}

func (c testClient) generate(ctx context.Context, video, speech string) (id string, err error) {
	body, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() {
		w.CloseWithError(errors.Join(attach(form, "video", video), attach(form, "audio", speech), form.Close()))
	}()
	var made struct {
		ID string `json:"request_id"`
	}
	err = c.call(ctx, http.MethodPost, rest.Base+rest.GenerateWithMediaPath, form.FormDataContentType(), body, &made)
	return made.ID, err
}

func attach(form *multipart.Writer, field, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	part, err := form.CreateFormFile(field, filepath.Base(path))
	if err != nil {
		return err
	}
	_, err = io.Copy(part, file)
	return err
}

func (c testClient) request(ctx context.Context, id string) (r request, err error) {
	err = c.call(ctx, http.MethodGet, rest.Base+rest.RequestsPath+"/"+id, "", nil, &r)
	return r, err
}

// call makes a call and decodes its answer.
func (c testClient) call(ctx context.Context, method, path, contentType string, body io.Reader, answer any) error {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return &statusError{response.StatusCode, fmt.Sprintf("%s %s: %s", method, path, response.Status)}
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// statusError is the error of a call with another answer than 200.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

func (c testClient) download(ctx context.Context, url, path string) (err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("download: %s", response.Status)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = io.Copy(file, response.Body)
	return err
}

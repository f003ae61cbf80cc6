package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/domain/transfer"
	"lipsync/internal/http/fields"
)

const (
	maxText  = 1 << 20 // bytes of all parts of a form that are not files
	maxParts = 100
)

// generateWithMedia stores the files of a form as they arrive and makes a
// request of them. If the form is refused, the files stored so far are deleted.
func (a *api) generateWithMedia(r *http.Request, c lipsync.Caller) (generated, error) {
	f, err := a.newForm(r, c)
	if err != nil {
		return generated{}, err
	}
	defer f.answered()
	if err := f.read(); err != nil {
		// If the client has gone, the context of its call has ended.
		return generated{}, errors.Join(err, a.service.DiscardMedia(context.WithoutCancel(r.Context()), f.request))
	}
	return a.start(r, c, f.request)
}

// form reads a multipart body, part by part, into the parameters of a request.
type form struct {
	service  *service.Service
	ctx      context.Context
	header   http.Header
	account  string
	arrivals *arrivals
	arrived  int64 // bytes of files
	stored   int64 // bytes that the account stored when the form began
	parts    *multipart.Reader
	request  requests.Params
	seen     map[string]bool
	text     int64 // bytes of text still allowed
}

func (a *api) newForm(r *http.Request, c lipsync.Caller) (*form, error) {
	if !hasType(r, "multipart/form-data") {
		return nil, invalid("content-type must be multipart/form-data")
	}
	key, err := idempotencyKey(r.Header)
	if err != nil {
		return nil, err
	}
	limit := a.service.MaxSize(failure.Video) + a.service.MaxSize(failure.Audio) + 2*maxText // with the headers of the parts
	if r.ContentLength > limit {
		return nil, tooLarge("request body", limit)
	}
	if a.MaxForm > 0 && r.ContentLength > a.MaxForm {
		return nil, &failure.Error{Code: failure.TooLarge,
			Message: failure.LargerThan("request body", a.MaxForm) + "; send larger files by POST " + UploadsPath}
	}
	paced := &transfer.PacedReader{R: http.MaxBytesReader(nil, r.Body, limit), Now: a.service.Now, Patience: transfer.SendPatience}
	r.Body = io.NopCloser(bodyOf(paced))
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, invalid("invalid request body")
	}
	var stored int64
	if a.MaxForm == 0 { // otherwise a form is small
		if stored, _, err = a.service.Stored(r.Context(), c, a.service.Now()); err != nil {
			return nil, err
		}
	}
	return &form{
		service: a.service, ctx: r.Context(), header: r.Header, account: c.Account, arrivals: a.arrivals, stored: stored, parts: parts, seen: map[string]bool{}, text: maxText,
		request: requests.Params{ID: a.service.NewRequestID(), IdempotencyKey: key},
	}, nil
}

// bodyOf returns an error at the end of the body. A complete form ends earlier, at its
// closing boundary, so only a truncated form gets the error. Without it the reader of parts
// accepts a form that is truncated in a header. Some clients send no line break after the
// closing boundary, so bodyOf adds one.
func bodyOf(r io.Reader) io.Reader {
	return io.MultiReader(r, strings.NewReader("\r\n"), brokenOff{})
}

// brokenOff is the error at the end of a body, as a reader.
type brokenOff struct{}

func (brokenOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// read reads all parts, in any order.
func (f *form) read() error {
	for n := 0; ; n++ {
		part, err := f.parts.NextPart()
		if err == io.EOF {
			return f.complete()
		}
		if err != nil {
			return unreadable(err)
		}
		if n == maxParts {
			return invalid("form has more than 100 parts")
		}
		if err := f.take(part); err != nil {
			return err
		}
	}
}

func (f *form) complete() error {
	switch {
	case f.request.Video.Object == "":
		return f.missing("video file is required")
	case len(f.request.Audios) == 0:
		return f.missing("audio file is required")
	}
	return nil
}

// formFields are the fields of a form, for its client.
const formFields = "video, audio, audio[REF], reference_id, disable_active_speaker_detection, model, options, output, segments, webhook_url"

// skip reads a file of an unknown name. It refuses a large one, since that is a medium under a wrong name.
func (f *form) skip(part *multipart.Part) error {
	n, err := io.Copy(io.Discard, io.LimitReader(part, f.text+1))
	switch f.text -= n; {
	case err != nil:
		return unreadable(err)
	case f.text < 0:
		return invalid(fmt.Sprintf("form has no file %.60q; its files are video, audio and audio[REF]", part.FormName()))
	}
	return nil
}

// missing returns the error for a form without a file. Perhaps it has another name.
func (f *form) missing(sentence string) error {
	if len(f.request.Ignored) == 0 {
		return invalid(sentence)
	}
	ignored := strings.Trim(strconv.QuoteToASCII(strings.Join(f.request.Ignored, ", ")), `"`)
	return detailed{invalid(sentence), "unknown fields: " + ignored + "; a form has: " + formFields}
}

// take reads one part. It skips unknown parts, or refuses them.
func (f *form) take(part *multipart.Part) error {
	read := f.reader(part)
	if read == nil {
		f.request.Ignored = fields.Add(f.request.Ignored, part.FormName())
		if err := refuse(f.header, f.request.Ignored); err != nil {
			return err
		}
		if part.FileName() != "" {
			return f.skip(part)
		}
		_, err := f.value(part)
		return err
	}
	name := part.FormName()
	if f.seen[name] {
		return invalid(name + " was sent more than once")
	}
	f.seen[name] = true
	return read(part)
}

// reader returns the function that reads the part, or nil for an unknown part. A part without a
// file name is not a file: browsers send one for an empty file input.
func (f *form) reader(part *multipart.Part) func(*multipart.Part) error {
	file := part.FileName() != ""
	switch name := part.FormName(); {
	case name == "video" && file:
		return f.video
	case audioPart.MatchString(name) && file:
		return f.audio
	case name == "reference_id":
		return f.optional(&f.request.ReferenceID)
	case name == "disable_active_speaker_detection":
		return f.largestFace
	case name == "model":
		return f.model
	case name == "options":
		return f.object(&f.request.Options)
	case name == "output":
		return f.object(&f.request.Output)
	case name == "segments":
		return f.object(&f.request.Segments)
	case name == "webhook_url":
		return f.optional(&f.request.WebhookURL)
	}
	return nil
}

func (f *form) video(part *multipart.Part) (err error) {
	f.request.Video, err = f.store(part, failure.Video)
	return err
}

// audioPart matches the names of parts with speech tracks: audio, and audio[REF] for segments.
var audioPart = regexp.MustCompile(`^audio(?:\[(.+)\])?$`)

func (f *form) audio(part *multipart.Part) error {
	if len(f.request.Audios) == lipsync.MostTracks {
		return invalid(fmt.Sprintf("there can be at most %d audios", lipsync.MostTracks))
	}
	source, err := f.store(part, failure.Audio)
	f.request.Audios = append(f.request.Audios, requests.Track{Ref: audioPart.FindStringSubmatch(part.FormName())[1], Source: source})
	return err
}

// optional returns the function that reads a part with a text that may be missing.
func (f *form) optional(into **string) func(*multipart.Part) error {
	return func(part *multipart.Part) error {
		value, err := f.value(part)
		*into = &value
		return err
	}
}

func (f *form) largestFace(part *multipart.Part) error {
	value, err := f.value(part)
	value = strings.ToLower(value) // Python writes True
	if err == nil && value != "true" && value != "false" {
		return invalid("disable_active_speaker_detection must be true or false")
	}
	f.request.LargestFace = value == "true"
	return err
}

func (f *form) model(part *multipart.Part) (err error) {
	f.request.Engine, err = f.value(part)
	return err
}

// object returns the function that reads a part with an object or a list as JSON text.
func (f *form) object(into any) func(*multipart.Part) error {
	return func(part *multipart.Part) error {
		value, err := f.value(part)
		if err != nil {
			return err
		}
		err = json.Unmarshal([]byte(value), into)
		if _, ok := errors.AsType[*failure.Error](err); err == nil || ok {
			return err
		}
		if part.FormName() == "segments" {
			return invalid(fmt.Sprintf("segments must be a list of 1 to %d segments, as JSON", order.MostSegments))
		}
		return invalid(part.FormName() + " must be an object, as JSON")
	}
}

// value reads a part that is not a file. All such parts together may have maxText bytes.
func (f *form) value(part *multipart.Part) (string, error) {
	b, err := io.ReadAll(io.LimitReader(part, f.text+1))
	f.text -= int64(len(b))
	switch {
	case err != nil:
		return "", unreadable(err)
	case f.text < 0:
		return "", tooLarge("form without its files", maxText)
	case !utf8.Valid(b):
		return "", invalid("invalid request body")
	}
	return string(b), nil
}

// store stores a file as it arrives.
func (f *form) store(part *multipart.Part, kind failure.MediaKind) (requests.Source, error) {
	file := &arrival{form: f, r: part}
	var source requests.Source
	var err error
	if n := len(f.request.Audios); kind == failure.Audio && n > 0 {
		source, err = f.service.StoreTrack(f.ctx, f.request.ID, n, file)
	} else {
		source, err = f.service.StoreMedia(f.ctx, f.request.ID, kind, file)
	}
	source.Name = part.FileName()
	switch {
	case file.err != nil: // the client's file ended early; the storage did not fail
		return source, unreadable(file.err)
	case err == nil && file.n == 0:
		return source, invalid(string(kind) + " file is empty")
	}
	return source, err
}

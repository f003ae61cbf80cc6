package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
)

// Request is a lip sync request in an answer. Fields without a value are absent.
type Request struct {
	ID           string         `json:"id"`
	CreatedAt    time.Time      `json:"created_at"`
	Status       lipsync.Status `json:"status"`
	ErrorMessage string         `json:"error_message,omitempty"`
	FinishedAt   time.Time      `json:"finished_at,omitzero"`
	OutputURL    string         `json:"output_url,omitempty"`
	ReferenceID  string         `json:"reference_id,omitempty"`
	StartedAt    time.Time      `json:"started_at,omitzero"`
}

func (q Request) requestID() string { return q.ID }

func (q Request) withoutLinks() any {
	q.OutputURL = ""
	return q
}

func (q Request) openSince() time.Time { return openSince(q.Status, q.CreatedAt, q.StartedAt) }

// openSince returns the result of pollable.openSince for a request with the status.
func openSince(s lipsync.Status, created, started time.Time) time.Time {
	switch {
	case s.Final():
		return time.Time{}
	case started.IsZero():
		return created
	default:
		return started
	}
}

// view returns a request for an answer, with the URL of its output if it has one.
func (a *api) view(r *http.Request, q lipsync.Request, output *url.URL) Request {
	v := viewOf(q)
	if output != nil {
		v.OutputURL = a.absolute(r, output)
	}
	return v
}

// viewOf returns a request for an answer or an event, without the URL of its output.
func viewOf(q lipsync.Request) Request {
	return Request{
		ID:           q.ID,
		CreatedAt:    q.CreatedAt.UTC(),
		Status:       q.Status,
		ErrorMessage: q.Failure.Sentence(),
		FinishedAt:   q.FinishedAt.UTC(),
		ReferenceID:  q.ReferenceID,
		StartedAt:    q.StartedAt.UTC(),
	}
}

func (a *api) getRequest(r *http.Request, c lipsync.Caller) (Request, error) {
	id := r.PathValue("id") // decoded: a reference_id may have a slash, sent as %2F
	q, output, err := a.service.Request(r.Context(), c, id)
	if err != nil {
		return Request{}, err
	}
	return a.view(r, q, output), nil
}

func (*api) viewEnded(q lipsync.Request) Request { return viewOf(q) }

// erased says how many requests and batches a call erased, and whether more may be left.
type erased struct {
	Erased int  `json:"erased"`
	More   bool `json:"more"`
}

func (a *api) eraseRequest(r *http.Request, c lipsync.Caller) (erased, error) {
	return erased{Erased: 1}, a.service.Erase(r.Context(), c, r.PathValue("id"))
}

func (a *api) eraseAccount(r *http.Request, c lipsync.Caller) (erased, error) {
	n, more, err := a.service.EraseAll(r.Context(), c)
	return erased{n, more}, err
}

// page is one page of the account's requests, newest first.
type page struct {
	Data       []Request  `json:"data"`
	Pagination pagination `json:"pagination"`
}

func (p page) withoutLinks() any {
	data := make([]any, len(p.Data))
	for i, q := range p.Data {
		data[i] = q.withoutLinks()
	}
	return map[string]any{"data": data, "pagination": p.Pagination}
}

// pagination is about a page at an offset or, if the call has a cursor, at a place that new requests don't move.
type pagination struct {
	Limit      int     `json:"limit"`
	Offset     *int64  `json:"offset,omitempty"`
	Total      *int64  `json:"total,omitempty"`
	NextCursor *string `json:"next_cursor,omitempty"` // "" on the last page
}

func (a *api) listRequests(r *http.Request, c lipsync.Caller) (page, error) {
	q, cursor, err := parseListQuery(r.URL.RawQuery)
	if err != nil {
		return page{}, err
	}
	found, at := service.Page{}, pagination{Limit: q.Limit}
	if cursor == nil {
		found, err = a.service.RequestPage(r.Context(), c, q)
		at.Offset, at.Total = &q.Offset, &found.Total
	} else {
		found, err = a.service.RequestsFrom(r.Context(), c, *cursor, q)
		at.NextCursor = new(cursorOf(q, found.Next))
	}
	if err != nil {
		return page{}, err
	}
	data := make([]Request, len(found.Requests))
	for i, q := range found.Requests {
		data[i] = a.view(r, q, found.Outputs[i])
	}
	return page{data, at}, nil
}

// cursorOf returns the cursor of a place in the query's list: what selects the list, as a check, and the place. It returns "" for the end.
func cursorOf(q service.ListQuery, place string) string {
	if place == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(listSum(q), place...))
}

// placeOf returns the place of a cursor of the query's list. That of "" is the begin.
func placeOf(q service.ListQuery, cursor string) (place string, ok bool) {
	if cursor == "" {
		return "", true
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	sum := listSum(q)
	if err != nil || !bytes.HasPrefix(text, sum) || len(text) == len(sum) {
		return "", false
	}
	return string(text[len(sum):]), true
}

// listSum returns some bytes that tell the list of a query from others.
func listSum(q service.ListQuery) []byte {
	sum := sha256.Sum256([]byte(string(q.Status) + "\x00" + q.ReferenceID))
	return sum[:4]
}

// parseListQuery parses the query of a list. The place is nil if the query has no cursor.
func parseListQuery(raw string) (list service.ListQuery, place *string, err error) {
	q := parseQuery(raw)
	list.Limit, list.Offset = q.limit(), q.whole("offset", 0, 0, 1<<53-1)
	list.ReferenceID = q.text("reference_id", "reference_id must be 1 to 255 characters", func(s string) bool {
		return s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= 255
	})
	list.Status = oneOf(q, "status", lipsync.States())
	if got, ok := q.values["cursor"]; ok {
		from, ok := placeOf(list, got[0])
		if len(got) != 1 || !ok || q.values.Has("offset") {
			q.refuse("cursor must be empty, or the next_cursor of a page with the same reference_id and status; it takes no offset")
		}
		place = &from
	}
	return list, place, q.err
}

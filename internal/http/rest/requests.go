package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
)

// request is a lip sync request in an answer. Fields without a value are absent.
type request struct {
	ID           string         `json:"id"`
	CreatedAt    time.Time      `json:"created_at"`
	Status       lipsync.Status `json:"status"`
	ErrorMessage string         `json:"error_message,omitempty"`
	FinishedAt   time.Time      `json:"finished_at,omitzero"`
	OutputURL    string         `json:"output_url,omitempty"`
	ReferenceID  string         `json:"reference_id,omitempty"`
	StartedAt    time.Time      `json:"started_at,omitzero"`
}

func (q request) requestID() string { return q.ID }

func (q request) openSince() time.Time { return openSince(q.Status, q.CreatedAt, q.StartedAt) }

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
func (a *api) view(r *http.Request, q lipsync.Request, output *url.URL) request {
	v := viewOf(q)
	if output != nil {
		v.OutputURL = a.absolute(r, output)
	}
	return v
}

// viewOf returns a request for an answer or an event, without the URL of its output.
func viewOf(q lipsync.Request) request {
	return request{
		ID:           q.ID,
		CreatedAt:    q.CreatedAt.UTC(),
		Status:       q.Status,
		ErrorMessage: q.Failure.Sentence(),
		FinishedAt:   q.FinishedAt.UTC(),
		ReferenceID:  q.ReferenceID,
		StartedAt:    q.StartedAt.UTC(),
	}
}

func (a *api) getRequest(r *http.Request, c lipsync.Caller) (request, error) {
	id := r.PathValue("id") // decoded: a reference_id may have a slash, sent as %2F
	q, output, err := a.service.Request(r.Context(), c, id)
	if err != nil {
		return request{}, err
	}
	return a.view(r, q, output), nil
}

func (a *api) cancelRequest(r *http.Request, c lipsync.Caller) (request, error) {
	q, err := a.service.Cancel(r.Context(), c, r.PathValue("id"))
	if err != nil {
		return request{}, err
	}
	return a.view(r, q, nil), nil
}

func (a *api) deleteMedia(r *http.Request, c lipsync.Caller) (request, error) {
	q, err := a.service.DeleteMedia(r.Context(), c, r.PathValue("id"))
	if err != nil {
		return request{}, err
	}
	return a.view(r, q, nil), nil
}

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
	Data       []request  `json:"data"`
	Pagination pagination `json:"pagination"`
}

type pagination struct {
	Limit  int   `json:"limit"`
	Offset int64 `json:"offset"`
	Total  int64 `json:"total"`
}

func (a *api) listRequests(r *http.Request, c lipsync.Caller) (page, error) {
	q, err := parseListQuery(r.URL.RawQuery)
	if err != nil {
		return page{}, err
	}
	found, err := a.service.RequestPage(r.Context(), c, q)
	if err != nil {
		return page{}, err
	}
	data := make([]request, len(found.Requests))
	for i, q := range found.Requests {
		data[i] = a.view(r, q, found.Outputs[i])
	}
	return page{data, pagination{q.Limit, q.Offset, found.Total}}, nil
}

// parseListQuery parses the query of a list. It ignores unknown parameters.
func parseListQuery(raw string) (service.ListQuery, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return service.ListQuery{}, invalid("invalid query string")
	}
	q := service.ListQuery{Limit: 20}
	if got, ok := values["limit"]; ok {
		n, ok := wholeNumber(got)
		if !ok || n < 1 || n > 100 {
			return q, invalid("limit must be one whole number from 1 to 100")
		}
		q.Limit = int(n)
	}
	if got, ok := values["offset"]; ok {
		if q.Offset, ok = wholeNumber(got); !ok {
			return q, invalid("offset must be one whole number from 0 to 9007199254740991")
		}
	}
	if got, ok := values["reference_id"]; ok {
		if len(got) != 1 || !utf8.ValidString(got[0]) || got[0] == "" || utf8.RuneCountInString(got[0]) > 255 {
			return q, invalid("reference_id must be 1 to 255 characters")
		}
		q.ReferenceID = got[0]
	}
	if got, ok := values["status"]; ok {
		if len(got) != 1 || !slices.Contains(lipsync.States(), lipsync.Status(got[0])) {
			return q, invalid("status must be one of: queued, processing, completed, failed, canceled")
		}
		q.Status = lipsync.Status(got[0])
	}
	return q, nil
}

// wholeNumber parses the only value of a parameter. The value has only digits and is at most
// 2^53-1, the largest whole number that every JSON client can read exactly.
func wholeNumber(values []string) (int64, bool) {
	if len(values) != 1 {
		return 0, false
	}
	n, err := strconv.ParseUint(values[0], 10, 53)
	return int64(n), err == nil
}

package lipsync

import (
	"context"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Page is one page of a list.
type Page struct {
	Requests []Request
	Outputs  []*url.URL // beside Requests; nil where there is none
	Total    int64
}

// Request returns the caller's request with the id, or else the newest one with
// the reference id, and where its output is, if there is one. An id is found in
// any case of its letters. NotFound for other accounts' requests too.
func (s *Service) Request(ctx context.Context, c Caller, idOrReference string) (Request, *url.URL, error) {
	r, err := s.find(ctx, c.Account, idOrReference)
	if err != nil {
		return Request{}, nil, restate(err, NotFound, "lipsync request not found")
	}
	output, err := s.outputURL(ctx, r)
	return r, output, err
}

// Details returns the caller's request with all that is known of it.
func (s *Service) Details(ctx context.Context, c Caller, idOrReference string) (Request, error) {
	r, err := s.find(ctx, c.Account, idOrReference)
	return r, restate(err, NotFound, "lipsync request not found")
}

// OutputExpires returns until when the request's output can be had, the zero time if it
// has none.
func (s *Service) OutputExpires(r Request) time.Time {
	if r.Output == "" {
		return time.Time{}
	}
	return r.FinishedAt.Add(s.Limits.Keep.OutputLife())
}

func (s *Service) find(ctx context.Context, account, idOrReference string) (Request, error) {
	if id, err := uuid.Parse(idOrReference); err == nil && len(idOrReference) == len(id.String()) {
		r, err := s.Requests.ByID(ctx, id.String())
		if CodeOf(err) != NotFound && (err != nil || r.Account == account) {
			return r, err
		}
	}
	if !validText(idOrReference) {
		return Request{}, newError(NotFound, "lipsync request not found")
	}
	return s.Requests.ByReference(ctx, account, idOrReference)
}

// MostByStatus is how many requests a list of one status has, the newest ones. No counter says
// how many there are of a status, so this bounds how many are counted at each call.
const MostByStatus = 1000

// ListQuery asks for a page of an account's requests.
type ListQuery struct {
	Status      Status // "" for any
	ReferenceID string // "" for any
	Offset      int64
	Limit       int
}

// RequestPage returns the caller's requests that the query asks for, newest first, with where
// their outputs are, and how many there are on all pages together.
func (s *Service) RequestPage(ctx context.Context, c Caller, q ListQuery) (Page, error) {
	var list []Request
	var total int64
	var err error
	if q.Status == "" {
		list, total, err = s.Requests.List(ctx, c.Account, q.ReferenceID, q.Offset, q.Limit)
	} else {
		list, total, err = s.ofStatus(ctx, c, q)
	}
	if err != nil {
		return Page{}, err
	}
	p := Page{Requests: list, Outputs: make([]*url.URL, len(list)), Total: total}
	for i, r := range list {
		if p.Outputs[i], err = s.outputURL(ctx, r); err != nil {
			return Page{}, err
		}
	}
	return p, nil
}

// VideoURL returns where the video that a request was given can be watched: the
// client's own address, or a new one of what is stored. nil if that is gone.
func (s *Service) VideoURL(ctx context.Context, r Request) (*url.URL, error) {
	if r.Video.Object == "" {
		return url.Parse(r.Video.URL)
	}
	switch _, err := s.Objects.Size(ctx, r.Video.Object); CodeOf(err) {
	case "":
		return s.Objects.SignGet(ctx, r.Video.Object, "video", s.Now().Add(getURLLife))
	case NotFound:
		return nil, nil
	default:
		return nil, err
	}
}

// ofStatus returns a page of the newest MostByStatus requests of one status, and how many of
// these there are.
func (s *Service) ofStatus(ctx context.Context, c Caller, q ListQuery) ([]Request, int64, error) {
	list, total, err := s.Requests.ListByStatus(ctx, StatusQuery{
		Account: c.Account, Status: q.Status, ReferenceID: q.ReferenceID,
		Offset: int(min(q.Offset, MostByStatus)), Limit: q.Limit, Count: MostByStatus,
	})
	return list, int64(total), err
}

// Usage returns what became of the requests that the caller's account made, for
// each of the last days (UTC) up to that of now, oldest first.
func (s *Service) Usage(ctx context.Context, c Caller, now time.Time, days int) ([]Day, error) {
	return s.Requests.Usage(ctx, c.Account, now, days)
}

// outputURL signs a new address of the request's output, nil if it has none or
// its time is over.
func (s *Service) outputURL(ctx context.Context, r Request) (*url.URL, error) {
	now := s.Now()
	if !now.Before(s.OutputExpires(r)) {
		return nil, nil
	}
	return s.Objects.SignGet(ctx, r.Output, outputName(r), now.Add(getURLLife))
}

// PosterURL returns where the picture of the request's output is, nil if there is none or the
// output's time is over.
func (s *Service) PosterURL(ctx context.Context, r Request) (*url.URL, error) {
	now := s.Now()
	if r.poster() == "" || !now.Before(s.OutputExpires(r)) {
		return nil, nil
	}
	return s.Objects.SignGet(ctx, r.poster(), r.ID+".jpg", now.Add(getURLLife))
}

// poster is the object key of the picture of the output, "" if there is none.
func (r Request) poster() string {
	if r.Output == "" || !r.Poster {
		return ""
	}
	return posterKey(r.Output)
}

// outputName is the name under which the request's output is saved: after the video that was
// sent for it, if that has a name.
func outputName(r Request) string {
	if r.Video.Name == "" {
		return r.ID + ".mp4"
	}
	return strings.TrimSuffix(r.Video.Name, path.Ext(r.Video.Name)) + "-lipsync.mp4"
}

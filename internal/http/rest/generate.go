package rest

import (
	"net/http"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
)

// generateBody is the JSON body of a call that names its inputs by URL. A null counts as an absent
// field.
type generateBody struct {
	Inputs []struct {
		Type failure.MediaKind `json:"type"`
		URL  string            `json:"url"`
		Ref  *string           `json:"ref"`
	} `json:"inputs"`
	order.Order
	Segments   order.Segments `json:"segments"`
	WebhookURL *string        `json:"webhook_url"`
}

// generated is the answer to a call that creates a request, by URLs or by a form.
type generated struct {
	RequestID string `json:"request_id"`
	Status    string `json:"status"`
	again     bool   // see repeatable
}

func (g generated) repeated() bool { return g.again }

func (g generated) requestID() string { return g.RequestID }

const success = "success" // the only status of generated

func (a *api) generate(r *http.Request, c lipsync.Caller, in sent[generateBody]) (generated, error) {
	p, err := in.value.params(in.ignored)
	if err != nil {
		return generated{}, err
	}
	p.ID = a.service.NewRequestID()
	if p.IdempotencyKey, err = idempotencyKey(r.Header); err != nil {
		return generated{}, err
	}
	return a.start(r, c, p)
}

// start makes the request, or finds the one that an earlier call with the idempotency key made.
func (a *api) start(r *http.Request, c lipsync.Caller, p requests.Params) (generated, error) {
	id, err := a.service.Generate(r.Context(), c, p)
	return generated{RequestID: id, Status: success, again: id != p.ID}, err
}

// params returns the parameters of the request of a body with ignored fields.
func (b generateBody) params(ignored []string) (requests.Params, error) {
	video, audios, err := b.sources()
	if err != nil {
		return requests.Params{}, err
	}
	return requests.Params{
		Video: video, Audios: audios, Order: b.Order, Segments: b.Segments, WebhookURL: b.WebhookURL, Ignored: ignored,
	}, nil
}

// sources returns the only video, and the audios: only one without segments. It checks the type of each input
// before their number.
func (b generateBody) sources() (video requests.Source, audios []requests.Track, err error) {
	found := map[failure.MediaKind][]requests.Track{}
	for _, in := range b.Inputs {
		if in.Type != failure.Video && in.Type != failure.Audio {
			return video, nil, invalid(`input type must be "video" or "audio"`)
		}
		track := requests.Track{Source: requests.Source{URL: in.URL}}
		switch {
		case in.Ref == nil:
		case in.Type == failure.Video:
			return video, nil, invalid("only an audio input can have a ref")
		case *in.Ref == "":
			return video, nil, invalid("ref of an audio must be 1 to 255 characters")
		default:
			track.Ref = *in.Ref
		}
		found[in.Type] = append(found[in.Type], track)
	}
	videos, audios := found[failure.Video], found[failure.Audio]
	switch {
	case len(videos) != 1:
		return video, nil, invalid("expected exactly one video input")
	case len(audios) == 0 || len(audios) > 1 && b.Segments == nil:
		return video, nil, invalid("expected exactly one audio input")
	}
	return videos[0].Source, audios, nil
}

// idempotencyKey returns the value of the header Idempotency-Key, or nil.
func idempotencyKey(h http.Header) (*string, error) {
	values, sent := h["Idempotency-Key"]
	if !sent {
		return nil, nil
	}
	if len(values) != 1 || !printable(values[0]) || len(values[0]) < 1 || len(values[0]) > 255 {
		return nil, invalid("Idempotency-Key must be 1 to 255 printable ASCII characters")
	}
	return &values[0], nil
}

// printable reports whether s has only printable ASCII characters.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

package requests

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// idempotentLife is the time for which an idempotency key is known.
const idempotentLife = 24 * time.Hour

// Params are the parameters of a new request.
type Params struct {
	ID     string // id that StoreMedia was called with; "" if it was not called
	Video  Source
	Audios []Track // one, or several for segments
	order.Order
	Segments       order.Segments
	IdempotencyKey *string  // may be nil
	Ignored        []string // names of the call's fields that the service doesn't know
	WebhookURL     *string  // URL of a webhook of the account, with any query, which gets all events; may be nil
}

// Track is a speech track of a new request.
type Track struct {
	Ref string // the name by which segments refer to it; "" if it has none
	Source
}

// idempotency returns the record of the request's idempotency key, or nil if it has no key.
func (p Params) idempotency(now time.Time) *lipsync.Idempotency {
	if p.IdempotencyKey == nil {
		return nil
	}
	return &lipsync.Idempotency{Key: *p.IdempotencyKey, Fingerprint: p.fingerprint(), ExpiresAt: now.Add(idempotentLife)}
}

// webhookURL returns the URL of the named webhook, or "" if there is none.
func (p Params) webhookURL() string {
	if p.WebhookURL == nil {
		return ""
	}
	return *p.WebhookURL
}

// options returns the options of the request, with its output and its segments.
func (p Params) options() order.Options {
	o := p.Whole()
	o.Segments = p.Segments
	return o
}

// record returns the request with what the client gave, and the sources as it named them.
func (p Params) record() lipsync.Request {
	var audios []lipsync.NamedInput
	for _, track := range p.Audios {
		audios = append(audios, lipsync.NamedInput{Ref: track.Ref, Input: track.named()})
	}
	return lipsync.Request{
		ID: p.ID, ReferenceID: p.Reference(), LargestFace: p.LargestFace, Options: p.options(), Warnings: order.IgnoredFields(p.Ignored), Targets: lipsync.NewTargets(p.webhookURL()),
		Video: p.Video.named(), Audio: audios[0].Input, Tracks: newTracks(audios),
	}
}

func (p Params) validate() error {
	if p.ReferenceID != nil && !order.ValidText(*p.ReferenceID) {
		return failure.New(failure.Invalid, "reference_id must be 1 to 255 characters")
	}
	if p.IdempotencyKey != nil && !order.ValidText(*p.IdempotencyKey) {
		return failure.New(failure.Invalid, "Idempotency-Key must be 1 to 255 characters")
	}
	if p.LargestFace && p.Options.Face.By != order.AutoFace {
		return failure.New(failure.Invalid, "face can't be chosen with disable_active_speaker_detection")
	}
	if p.WebhookURL != nil && !order.ValidURL(*p.WebhookURL) {
		return failure.New(failure.Invalid, order.URLRule("webhook_url", *p.WebhookURL))
	}
	return p.checkTracks()
}

// stored reports whether media of the parameters were stored by StoreMedia.
func (p Params) stored() bool {
	return slices.ContainsFunc(p.sources(), func(s Source) bool { return s.Object != "" })
}

// sources returns the video and all speech tracks.
func (p Params) sources() []Source {
	all := []Source{p.Video}
	for _, track := range p.Audios {
		all = append(all, track.Source)
	}
	return all
}

// UploadIDs returns the ids of the uploads that the request names, each once.
func (p Params) UploadIDs() []string {
	var ids []string
	for _, source := range p.sources() {
		if id, ok := source.upload(); ok && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// fingerprint returns a SHA-256 of all parameters. It depends also on the endpoint, since stored
// media have a SHA-256 and no URL.
func (p Params) fingerprint() [32]byte {
	type source struct {
		URL    string
		SHA256 [32]byte
	}
	type track struct {
		Ref    string
		Source source
	}
	var audios []track
	for _, t := range p.Audios {
		audios = append(audios, track{t.Ref, source{t.URL, t.SHA256}})
	}
	text, _ := json.Marshal(struct { // strings, booleans and bytes always encode
		Video                                    source
		Audios                                   []track
		LargestFace                              bool
		ReferenceID, Engine, Options, WebhookURL string
	}{source{p.Video.URL, p.Video.SHA256}, audios, p.LargestFace, p.Reference(), p.Engine, p.options().Text(), p.webhookURL()})
	return sha256.Sum256(text)
}

// checkTracks returns an error, which is Invalid, unless each segment has a speech track, and each named speech track has a segment.
func (p Params) checkTracks() error {
	if len(p.Audios) == 0 {
		return failure.New(failure.Invalid, "audio is required")
	}
	segments := p.Segments
	if len(segments) == 0 {
		if len(p.Audios) > 1 || p.Audios[0].Ref != "" {
			return failure.New(failure.Invalid, "audios with ref need segments")
		}
		return nil
	}
	if p.LargestFace {
		return failure.New(failure.Invalid, "segments can't be used with disable_active_speaker_detection")
	}
	if len(p.Audios) > lipsync.MostTracks {
		return failure.New(failure.Invalid, fmt.Sprintf("there can be at most %d audios", lipsync.MostTracks))
	}
	var names, quoted []string
	for _, track := range p.Audios {
		switch used := slices.Contains(segments.Refs(), track.Ref); {
		case track.Ref != "" && !order.ValidText(track.Ref):
			return failure.New(failure.Invalid, "ref of an audio must be 1 to 255 characters")
		case slices.Contains(names, track.Ref) && track.Ref == "":
			return failure.New(failure.Invalid, "two audios have no ref")
		case slices.Contains(names, track.Ref):
			return failure.New(failure.Invalid, fmt.Sprintf("two audios have the ref %.60q", track.Ref))
		case !used && track.Ref == "":
			return failure.New(failure.Invalid, "no segment has the audio without ref")
		case !used:
			return failure.New(failure.Invalid, fmt.Sprintf("no segment has the audio %.60q", track.Ref))
		}
		name := fmt.Sprintf("%.60q", track.Ref)
		if track.Ref == "" {
			name = "one without ref"
		}
		names, quoted = append(names, track.Ref), append(quoted, name)
	}
	if ref, unknown := segments.Unknown(names); unknown && ref == "" {
		return failure.New(failure.Invalid, "segment has an audio without ref; there is: "+strings.Join(quoted, ", "))
	} else if unknown {
		return failure.New(failure.Invalid, fmt.Sprintf("segment has the audio %.60q; there is: %s", ref, strings.Join(quoted, ", ")))
	}
	return segments.Check(p.Options)
}

// newTracks returns the Tracks of speech tracks.
func newTracks(list []lipsync.NamedInput) lipsync.Tracks {
	if len(list) == 1 && list[0].Ref == "" {
		return nil
	}
	list = slices.Clone(list)
	list[0].Input = lipsync.Input{}
	return list
}

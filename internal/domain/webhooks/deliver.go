package webhooks

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

const (
	// sendLease is the time for which an attempt holds its delivery: lipsync.PostTime, and time for the store.
	sendLease = time.Minute
	// longestWait bounds the pause that a webhook can ask for by Retry-After.
	longestWait = 24 * time.Hour
	// maxEvent bounds the body of an event in bytes, as Standard Webhooks recommends.
	maxEvent = 20_000
)

// deliveryPauses has the time before each attempt, from the event or the attempt before: the schedule
// that Standard Webhooks recommends.
var deliveryPauses = [...]time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// Deliver makes an attempt at a delivery if it is due, and then at the next one of the same request
// that waited for it. It returns an error only if the service fails; a webhook that can't be reached is
// no such error. Deliver may be called with the same delivery any number of times, also at the same
// time.
func (s *Service) Deliver(ctx context.Context, webhook, id string) error {
	d, err := s.Store.Webhooks.Delivery(ctx, webhook, id)
	if failure.CodeOf(err) == failure.NotFound {
		return nil
	}
	if err != nil || !d.State.Pending() || d.Due.After(s.Now()) {
		return err
	}
	return s.deliver(ctx, d)
}

func (s *Service) deliver(ctx context.Context, d lipsync.Delivery) error {
	if waits, err := s.waitForEarlier(ctx, &d); waits || err != nil {
		return err
	}
	w, known, err := s.webhookOf(ctx, d)
	switch {
	case err != nil:
		return err
	case !known: // deleted
		return s.Store.Webhooks.Drop(ctx, d)
	case !w.DisabledAt.IsZero():
		d.State, d.Problem, d.Due = lipsync.DeliveryFailed, "webhook is disabled", time.Time{}
		return s.swap(ctx, &d)
	}
	d.State, d.Due = lipsync.DeliverySending, lipsync.StoredTime(s.Now().Add(sendLease))
	if err := s.Store.Webhooks.Swap(ctx, d); err != nil {
		return failure.Unless(failure.Conflict, err) // another process sends it
	}
	d.Version++
	if err := s.attempt(ctx, w, &d); err != nil {
		return err
	}
	if d.State.Pending() {
		s.Announce(ctx, d.Due.Sub(s.Now()), d)
		return nil
	}
	return s.deliverNext(ctx, d)
}

// waitForEarlier reports whether an earlier delivery of the same request is pending. Then it makes the
// delivery due with that one. The one that ends calls deliverNext, so this is only for a process that
// dies in between. If the earlier one ends meanwhile, its deliverNext may miss the delivery, so it looks twice.
func (s *Service) waitForEarlier(ctx context.Context, d *lipsync.Delivery) (bool, error) {
	due, pending, err := s.earlier(ctx, *d)
	if !pending || err != nil {
		return false, err
	}
	d.State, d.Due = lipsync.DeliveryWaiting, lipsync.StoredTime(slices.MaxFunc([]time.Time{due, s.Now().Add(time.Second)}, time.Time.Compare))
	if err := s.Store.Webhooks.Swap(ctx, *d); err != nil {
		return true, failure.Unless(failure.Conflict, err)
	}
	d.Version++
	_, pending, err = s.earlier(ctx, *d)
	return pending, err
}

// earlier reports whether the delivery must wait for one that is pending, and when that one is due.
func (s *Service) earlier(ctx context.Context, d lipsync.Delivery) (due time.Time, pending bool, err error) {
	if d.After == "" {
		return time.Time{}, false, nil
	}
	e, err := s.Store.Webhooks.Delivery(ctx, d.Webhook, d.After)
	return e.Due, err == nil && e.State.Pending(), failure.Unless(failure.NotFound, err)
}

// deliverNext delivers the event of the same request that had to wait for d, if there is one.
func (s *Service) deliverNext(ctx context.Context, d lipsync.Delivery) error {
	if d.Type != lipsync.RequestProcessing {
		return nil
	}
	r, err := s.Store.Requests.ByID(ctx, d.Request)
	if err != nil || !r.Status.Final() {
		return failure.Unless(failure.NotFound, err)
	}
	last, _ := r.Event()
	next, err := s.Store.Webhooks.Delivery(ctx, d.Webhook, last.ID)
	if err != nil || next.State != lipsync.DeliveryWaiting || next.Attempts > 0 { // one with attempts keeps its pause
		return failure.Unless(failure.NotFound, err)
	}
	return s.deliver(ctx, next)
}

// webhookOf returns the webhook of the delivery. known is false if it was deleted.
func (s *Service) webhookOf(ctx context.Context, d lipsync.Delivery) (w lipsync.Webhook, known bool, err error) {
	a, err := s.Store.Webhooks.Of(ctx, d.Account)
	if i := find(a.List, d.Webhook); err == nil && i >= 0 {
		return a.List[i], true, nil
	}
	return lipsync.Webhook{}, false, err
}

// attempt makes one call, and stores its outcome in the delivery, which this process holds. A lost hold
// is no error. A fault of the service, or the end of its process, counts as no attempt of the webhook:
// when the hold ends, the delivery is due again.
func (s *Service) attempt(ctx context.Context, w lipsync.Webhook, d *lipsync.Delivery) error {
	body, err := s.eventBody(ctx, *d)
	if failure.CodeOf(err) == failure.NotFound { // no record says what happened
		return s.Store.Webhooks.Drop(ctx, *d)
	}
	if err != nil {
		return err
	}
	began := s.Now()
	answer, sendErr := s.Poster.Post(ctx, cmp.Or(d.URL, w.URL), signed(d.ID, began, body, secretsOf(w, began)), body)
	if ctx.Err() != nil { // this process ends; the attempt is made again
		return ctx.Err()
	}
	endAttempt(d, began, s.Now(), answer, sendErr, float64(s.RandomByte())/255)
	if err := s.noteHealth(ctx, w, *d); err != nil {
		return err
	}
	s.Watcher.Posted(*d, s.Now().Sub(began))
	return s.swap(ctx, d)
}

// noteHealth notes in the webhook of an attempt that ended since when it fails, and that it is disabled. It writes only what changes.
func (s *Service) noteHealth(ctx context.Context, w lipsync.Webhook, d lipsync.Delivery) error {
	gone, well := d.Status == http.StatusGone, d.Problem == ""
	if !gone && well == w.FailingSince.IsZero() {
		return nil
	}
	_, err := s.changeWebhook(ctx, d.Account, d.Webhook, func(w *lipsync.Webhook) {
		switch {
		case well:
			w.FailingSince = time.Time{}
		case w.FailingSince.IsZero():
			w.FailingSince = d.AttemptedAt
		}
		if gone {
			w.DisabledAt = d.AttemptedAt
		}
	})
	if !gone { // otherwise the next attempt notes it
		err = failure.Unless(failure.RateLimited, err)
	}
	return failure.Unless(failure.NotFound, err)
}

// endAttempt records an attempt with its outcome. spread, from 0 to 1, is how much of the largest jitter is
// added to the pause.
func endAttempt(d *lipsync.Delivery, began, now time.Time, answer lipsync.Answer, err error, spread float64) {
	d.Attempts, d.AttemptedAt = d.Attempts+1, lipsync.StoredTime(began)
	d.Status, d.Problem, d.Due = answer.Status, problem(answer, err), time.Time{}
	switch {
	case d.Problem == "":
		d.State = lipsync.DeliveryDelivered
	case answer.Status == http.StatusGone || d.Attempts >= len(deliveryPauses):
		d.State = lipsync.DeliveryFailed
	default:
		pause := deliveryPauses[d.Attempts]
		pause += time.Duration(float64(pause) * spread / 5) // so that calls that failed together are not repeated together
		pause = max(pause, min(answer.RetryAfter, longestWait))
		d.State, d.Due = lipsync.DeliveryWaiting, lipsync.StoredTime(now.Add(pause))
	}
}

// problem returns the sentence that says why an attempt failed, or "" if it didn't.
func problem(answer lipsync.Answer, err error) string {
	switch code := failure.CodeOf(err); {
	case code == "" && answer.Status/100 == 2:
		return ""
	case code == "" && answer.Status/100 == 3:
		return fmt.Sprintf("answered with status %d; redirects are not followed", answer.Status)
	case code == "":
		return fmt.Sprintf("answered with status %d", answer.Status)
	case code == failure.TooSlow:
		return "did not answer in time"
	case code == failure.NoHost:
		return failure.MessageOf(err) // which of three causes
	case code == failure.PrivateHost:
		return "address is in a private network"
	case code == failure.NotFound:
		return "URL can't be called"
	default:
		return "connection failed"
	}
}

// eventBody returns the body of the event: it has the request as it was then, with a link to its output
// that is made now.
func (s *Service) eventBody(ctx context.Context, d lipsync.Delivery) ([]byte, error) {
	about, err := s.subject(ctx, d)
	if err != nil {
		return nil, err
	}
	body, err := s.EventBody(d, about)
	if err == nil && len(body) >= maxEvent {
		err = fmt.Errorf("the event %s has %d bytes", d.ID, len(body))
	}
	return body, err
}

// subject returns what the event is about, or NotFound.
func (s *Service) subject(ctx context.Context, d lipsync.Delivery) (about lipsync.Subject, err error) {
	switch d.Type {
	case lipsync.TestEvent:
		return lipsync.Subject{}, nil
	case lipsync.BatchFinished:
		about.Batch, err = s.Store.Batches.ByID(ctx, d.Request)
		return about, err
	}
	r, err := s.Store.Requests.ByID(ctx, d.Request)
	if err != nil {
		return lipsync.Subject{}, err
	}
	if about.Request = requestAt(r, d.Type); about.Request.Output != "" {
		about.Output, err = s.OutputURL(ctx, about.Request)
	}
	return about, err
}

// requestAt returns the request as it was when an event of the type happened.
func requestAt(r lipsync.Request, t lipsync.EventType) lipsync.Request {
	if t == lipsync.RequestProcessing {
		r.Status, r.FinishedAt, r.Output, r.Failure = lipsync.Processing, time.Time{}, "", failure.Failure{}
	}
	return r
}

// signed returns the header of a call, with the signatures of Standard Webhooks 1.0 by all secrets.
func signed(id string, at time.Time, body []byte, secrets []string) http.Header {
	seconds := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil {
			continue // can't happen: newSecret made it
		}
		sum := hmac.New(sha256.New, key)
		fmt.Fprintf(sum, "%s.%s.%s", id, seconds, body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	}
	return http.Header{
		"Content-Type": {"application/json"}, "Webhook-Id": {id}, "Webhook-Timestamp": {seconds},
		"Webhook-Signature": {strings.Join(signatures, " ")},
	}
}

// secretsOf returns the secrets that sign a call at now, the newest first.
func secretsOf(w lipsync.Webhook, now time.Time) []string {
	if w.OldSecret != "" && now.Before(w.OldUntil) {
		return []string{w.Secret, w.OldSecret}
	}
	return []string{w.Secret}
}

// swap stores the delivery, unless another process has changed it.
func (s *Service) swap(ctx context.Context, d *lipsync.Delivery) error {
	err := s.Store.Webhooks.Swap(ctx, *d)
	d.Version++
	return failure.Unless(failure.Conflict, err)
}

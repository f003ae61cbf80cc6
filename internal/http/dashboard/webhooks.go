package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/http/shown"
)

// webhooksPage has the account's webhooks, oldest first, and the secret of the one that was just made.
type webhooksPage struct {
	Webhooks      []lipsync.Webhook
	Types         []eventChoice
	Made          lipsync.Webhook // zero if none was made; its secret is shown only once
	URL           string          // as the person sent it, if it could not be used
	Owned         bool            // the person may change webhooks
	Problem, CSRF string
}

// eventChoice is a type of event in the form, and whether it is chosen.
type eventChoice struct {
	Type   lipsync.EventType
	Chosen bool
}

func (p *pages) listWebhooks(v *visit) error {
	return p.showWebhooks(v, http.StatusOK, webhooksPage{}, lipsync.EventTypes())
}

func (p *pages) showWebhooks(v *visit, status int, w webhooksPage, chosen []lipsync.EventType) (err error) {
	if w.Webhooks, err = p.service.Webhooks(v.Context(), v.caller()); err != nil {
		return err
	}
	for _, t := range lipsync.EventTypes() {
		w.Types = append(w.Types, eventChoice{t, slices.Contains(chosen, t)})
	}
	w.CSRF, w.Owned = v.session.CSRF, v.session.Owns()
	return v.show(status, "webhooks", "Webhooks", w)
}

// createWebhook makes a webhook and shows its secret in the answer itself, as createKey does. With all types chosen
// the webhook also gets those of later versions.
func (p *pages) createWebhook(v *visit) error {
	w := webhooksPage{URL: strings.TrimSpace(v.PostForm.Get("url"))}
	events := []lipsync.EventType{} // not nil, which would be all
	for _, name := range v.PostForm["events"] {
		events = append(events, lipsync.EventType(name))
	}
	asked := events
	if len(events) == len(lipsync.EventTypes()) {
		asked = nil
	}
	err := p.service.Allow(v.Context(), v.caller(), lipsync.ReadCall)
	if err == nil {
		w.Made, err = p.service.CreateWebhook(v.Context(), v.caller(), w.URL, asked)
	}
	switch failure.CodeOf(err) {
	case "":
		w.URL = ""
		return p.showWebhooks(v, http.StatusOK, w, lipsync.EventTypes())
	case failure.Invalid, failure.WebhookLimit, failure.SameWebhook:
		w.Problem = failure.MessageOf(err)
		return p.showWebhooks(v, failure.CodeOf(err).Status(), w, events)
	default:
		return err
	}
}

// webhookPage is one webhook with a page of its deliveries, newest first.
type webhookPage struct {
	lipsync.Webhook
	Deliveries  []lipsync.Delivery
	Pager       pager
	NextAttempt time.Time // if it fails; zero if nothing waits
	Waiting     string    // if it fails: how many events wait, in words; "" for none
	Secret      string    // a new one, shown only once
	Turning     bool      // the old secret signs too
	Owned       bool      // the person may change webhooks
	CSRF        string
}

func (p *pages) showWebhook(v *visit) error {
	w, err := p.service.Webhook(v.Context(), v.caller(), v.PathValue("id"))
	if err != nil {
		return err
	}
	return p.showOneWebhook(v, w, "")
}

func (p *pages) showOneWebhook(v *visit, w lipsync.Webhook, secret string) error {
	before := v.URL.Query().Get("before")
	list, err := p.service.Deliveries(v.Context(), v.caller(), w.ID, before, pageSize+1)
	if err != nil {
		return err
	}
	page := webhookPage{Webhook: w, Secret: secret, Turning: p.service.Now().Before(w.OldUntil), Owned: v.session.Owns(), CSRF: v.session.CSRF}
	if page.NextAttempt, err = p.service.NextAttempt(v.Context(), w); err != nil {
		return err
	}
	if !w.FailingSince.IsZero() {
		n, err := p.service.Store.Webhooks.Pending(v.Context(), w.ID, shown.MostCounted+1)
		if err != nil {
			return err
		}
		page.Waiting = shown.Counted(n, "event")
	}
	page.Deliveries = list[:min(pageSize, len(list))]
	here := p.webhookPath(w.ID)
	if before != "" {
		page.Pager.Newer = here
	}
	if len(list) > pageSize {
		page.Pager.Older = here + "?before=" + url.QueryEscape(list[pageSize-1].ID)
	}
	return v.show(http.StatusOK, "webhook", "Webhook", page)
}

func (p *pages) webhookPath(id string) string { return p.root + "/webhooks/" + url.PathEscape(id) }

// rotateWebhook shows the new secret in the answer itself. While the old one signs, it refuses: a second rotation, such as by a reload of
// the page, would end the secret that the receiver has.
func (p *pages) rotateWebhook(v *visit) error {
	err := p.service.Allow(v.Context(), v.caller(), lipsync.ReadCall)
	if err != nil {
		return err
	}
	w, err := p.service.Webhook(v.Context(), v.caller(), v.PathValue("id"))
	if err != nil {
		return err
	}
	if p.service.Now().Before(w.OldUntil) {
		return v.leadTo(p.webhookPath(w.ID))
	}
	w, err = p.service.RotateWebhook(v.Context(), v.caller(), v.PathValue("id"))
	if err != nil {
		return err
	}
	return p.showOneWebhook(v, w, w.Secret)
}

func (p *pages) enableWebhook(v *visit) error {
	return p.changeWebhook(v, func() (string, error) {
		w, err := p.service.EnableWebhook(v.Context(), v.caller(), v.PathValue("id"))
		return w.ID, err
	})
}

func (p *pages) testWebhook(v *visit) error {
	return p.changeWebhook(v, func() (string, error) {
		d, err := p.service.TestWebhook(v.Context(), v.caller(), v.PathValue("id"))
		return d.Webhook, err
	})
}

func (p *pages) redeliverAll(v *visit) error {
	return p.changeWebhook(v, func() (string, error) {
		_, _, err := p.service.RedeliverAll(v.Context(), v.caller(), v.PathValue("id"))
		return v.PathValue("id"), err
	})
}

func (p *pages) redeliver(v *visit) error {
	return p.changeWebhook(v, func() (string, error) {
		d, err := p.service.Redeliver(v.Context(), v.caller(), v.PathValue("id"), v.PathValue("delivery"))
		return d.Webhook, err
	})
}

// changeWebhook calls change, as often as the account may make calls, and leads to the page of the webhook whose id it returns.
func (p *pages) changeWebhook(v *visit, change func() (id string, err error)) error {
	if err := p.service.Allow(v.Context(), v.caller(), lipsync.ReadCall); err != nil {
		return err
	}
	id, err := change()
	if err != nil {
		return err
	}
	return v.leadTo(p.webhookPath(id))
}

// askDeleteWebhook asks before a webhook is deleted.
func (p *pages) askDeleteWebhook(v *visit) error {
	w, err := p.service.Webhook(v.Context(), v.caller(), v.PathValue("id"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "delete-webhook", "Delete a webhook", webhookPage{Webhook: w, CSRF: v.session.CSRF})
}

func (p *pages) deleteWebhook(v *visit) error {
	if _, err := p.service.DeleteWebhook(v.Context(), v.caller(), v.PathValue("id")); err != nil {
		return err
	}
	return v.leadTo(p.root + "/webhooks")
}

package dashboard

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/browsertest"
)

// replies is a lipsync.Poster that answers by the URL: with the status at its end, or not at all.
type replies struct{}

func (replies) Post(_ context.Context, address string, _ http.Header, _ []byte) (lipsync.Answer, error) {
	status := map[string]int{"200": 200, "410": 410, "503": 503}[address[max(0, len(address)-3):]]
	if status == 0 {
		return lipsync.Answer{}, &failure.Error{Code: failure.TooSlow, Err: errors.New("no answer")}
	}
	return lipsync.Answer{Status: status}, nil
}

// sendTest sends a test event to the webhook, and returns its delivery.
func (f *fixture) sendTest(t testing.TB, c lipsync.Caller, webhook string) lipsync.Delivery {
	t.Helper()
	d, err := f.service.TestWebhook(t.Context(), c, webhook)
	if err == nil {
		err = f.service.Deliver(t.Context(), webhook, d.ID)
	}
	if err == nil {
		d, err = f.service.Store.Webhooks.Delivery(t.Context(), webhook, d.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// seedWebhooks makes webhooks with deliveries in every state, and returns their pages by name.
func (f *fixture) seedWebhooks(t testing.TB, c lipsync.Caller) map[string]string {
	t.Helper()
	f.service.Poster = replies{}
	f.service.EventBody = func(lipsync.Delivery, lipsync.Subject) ([]byte, error) { return []byte("{}"), nil }
	pages := map[string]string{"webhooks": "/dashboard/webhooks"}
	for name, address := range map[string]string{
		"webhook": "https://example.com/200", "webhook-busy": "https://example.com/hooks/503", "webhook-silent": "https://example.com/" + strings.Repeat("wide", 60),
		"webhook-disabled": "https://gone.example/410",
	} {
		events := lipsync.EventTypes()[:2]
		if name == "webhook" {
			events = nil
		}
		w, err := f.service.CreateWebhook(t.Context(), c, address, events)
		if err != nil {
			t.Fatal(err)
		}
		f.sendTest(t, c, w.ID)
		if name != "webhook-disabled" {
			f.sendTest(t, c, w.ID)
		}
		pages[name] = "/dashboard/webhooks/" + w.ID
	}
	pages["delete-webhook"] = pages["webhook"] + "/delete"
	return pages
}

// secretIn returns the first secret in a page, "" if there is none.
func secretIn(page answer) string {
	return regexp.MustCompile(`whsec_[\w+/=]{44}`).FindString(html.UnescapeString(page.body))
}

func TestWebhooks(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	f.service.Poster = replies{}
	f.service.EventBody = func(lipsync.Delivery, lipsync.Subject) ([]byte, error) { return []byte("{}"), nil }
	const path = "/dashboard/webhooks"
	f.get(t, path).must(t, http.StatusOK, "There is no webhook yet")
	f.send(t, path, url.Values{"url": {"https://example.com/"}, "events": {"x"}}).must(t, http.StatusBadRequest, "events must be of: lipsync.processing")
	f.send(t, path, url.Values{"url": {"nonsense"}}).must(t, http.StatusBadRequest, "url must be an absolute http or https URL", `value="nonsense"`)
	made := f.send(t, path, url.Values{"url": {"https://example.com/200"}, "events": {"lipsync.failed"}})
	made.must(t, http.StatusOK, "https://example.com/200", "lipsync.failed")
	c := lipsync.Caller{Account: account}
	all, err := f.service.Webhooks(t.Context(), c)
	if err != nil || len(all) != 1 || secretIn(made) == "" {
		t.Fatalf("got %+v, %v", all, err)
	}
	if list := f.get(t, path); secretIn(list) != "" {
		t.Error("the secret is shown a second time")
	}
	f.send(t, path, url.Values{"url": {"https://example.com/200"}}).must(t, http.StatusConflict, "already has a webhook with this URL")
	one := path + "/" + all[0].ID
	f.get(t, one).must(t, http.StatusOK, "Nothing was sent yet")
	f.send(t, one+"/test", nil).mustLead(t, one)
	f.get(t, one).must(t, http.StatusOK, "webhook.test", "waiting")
	list, err := f.service.Deliveries(t.Context(), c, all[0].ID, "", 10)
	if err != nil || len(list) != 1 {
		t.Fatalf("got %+v, %v", list, err)
	}
	again := one + "/deliveries/" + list[0].ID + "/redeliver"
	f.send(t, again, nil).must(t, http.StatusConflict, "delivery is not finished")
	if err := f.service.Deliver(t.Context(), all[0].ID, list[0].ID); err != nil {
		t.Fatal(err)
	}
	f.get(t, one).must(t, http.StatusOK, "delivered", again)
	f.send(t, again, nil).mustLead(t, one)
	failing, err := f.service.Webhook(t.Context(), c, all[0].ID)
	if err == nil {
		failing.FailingSince = f.service.Now()
		err = f.service.Store.Webhooks.Put(t.Context(), lipsync.AccountWebhooks{Account: account, List: []lipsync.Webhook{failing}, Version: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	f.get(t, one).must(t, http.StatusOK, "Failing since", "1 event waiting. The next attempt is", one+"/redeliver\"")
	f.send(t, one+"/redeliver", nil).mustLead(t, one)
	before := secretIn(made)
	rotated := secretIn(f.send(t, one+"/rotate", nil))
	if rotated == "" || rotated == before {
		t.Errorf("got the secret %q after %q", rotated, before)
	}
	f.send(t, one+"/rotate", nil).mustLead(t, one) // as a reload does
	if all, err = f.service.Webhooks(t.Context(), c); err != nil || all[0].OldSecret != before || all[0].Secret != rotated {
		t.Errorf("a second rotation left %+v (%v)", all[0], err)
	}
	if strings.Contains(f.get(t, one).body, "/rotate") {
		t.Error("the page offers a second rotation")
	}
	f.get(t, one+"/delete").must(t, http.StatusOK, "https://example.com/200")
	f.send(t, one+"/delete", nil).mustLead(t, path)
	f.get(t, one).must(t, http.StatusNotFound, "webhook not found")
	for events, want := range map[string]int{"": 0, strings.Join(typeNames(), " "): -1} { // -1: all, also of later versions
		f.send(t, path, url.Values{"url": {"https://example.com/" + events}, "events": strings.Fields(events)})
		all, err := f.service.Webhooks(t.Context(), c)
		if err != nil || len(all) == 0 {
			t.Fatalf("got %+v, %v", all, err)
		}
		if got := all[len(all)-1].Events; want < 0 && got != nil || want == 0 && (got == nil || len(got) > 0) {
			t.Errorf("events %q became %#v", events, got)
		}
	}
}

func typeNames() (names []string) {
	for _, t := range lipsync.EventTypes() {
		names = append(names, string(t))
	}
	return names
}

// TestWebhookPages pages through the deliveries of a webhook.
func TestWebhookPages(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	c := lipsync.Caller{Account: account}
	w, err := f.service.CreateWebhook(t.Context(), c, "https://example.com/", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range pageSize + 1 {
		d := lipsync.NewTest(w.ID, account, f.service.NewID(), f.service.Now())
		if err := f.service.Store.Webhooks.Add(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	rows := func(a answer) int { return strings.Count(a.body, "<tr>") - 1 }
	first := f.get(t, "/dashboard/webhooks/"+w.ID)
	older := regexp.MustCompile(`rel="next" href="([^"]+)"`).FindStringSubmatch(first.body)
	if rows(first) != pageSize || older == nil {
		t.Fatalf("got %d rows and the link %v", rows(first), older)
	}
	if last := f.get(t, older[1]); rows(last) != 1 || !strings.Contains(last.body, `rel="prev"`) {
		t.Errorf("got %d rows on the last page", rows(last))
	}
}

// TestWebhookInBrowser makes a webhook, sends a test event, enables the webhook after its URL answered 410, and sends the
// event again.
func TestWebhookInBrowser(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(t)
	f.service.Poster = replies{}
	f.service.EventBody = func(lipsync.Delivery, lipsync.Subject) ([]byte, error) { return []byte("{}"), nil }
	b.Open(f.URL + "/dashboard/webhooks")
	b.Do(chromedp.SendKeys("input[name=url]", "https://example.com/410\n"))
	b.Wait(`document.getElementById("secret")?.textContent.startsWith("whsec_")`)
	b.Do(chromedp.Click(".rows .name a"))
	b.WaitText(".empty", "Nothing was sent yet")
	b.Do(chromedp.Click("form[action$='/test'] button"))
	b.Wait(`document.querySelector(".rows .status")?.textContent === "waiting"`)
	w, err := f.service.Webhooks(t.Context(), lipsync.Caller{Account: account})
	if err != nil || len(w) != 1 || w[0].Events != nil {
		t.Fatalf("got %+v, %v", w, err)
	}
	list, err := f.service.Deliveries(t.Context(), lipsync.Caller{Account: account}, w[0].ID, "", 1)
	if err == nil {
		err = f.service.Deliver(t.Context(), w[0].ID, list[0].ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.Open(f.URL + "/dashboard/webhooks/" + w[0].ID)
	b.WaitText(".rows [data-label=Answer]", "answered with status 410")
	if browsertest.Eval[bool](b, `!!document.querySelector("form[action$='/redeliver'], form[action$='/test']")`) {
		t.Error("a disabled webhook can be called")
	}
	b.Do(chromedp.Click("form[action$='/enable'] button"))
	b.Wait(`document.querySelector("form[action$='/redeliver'] button")`)
	b.Do(chromedp.Click("form[action$='/redeliver'] button"))
	b.Wait(`document.querySelector(".rows .status")?.textContent === "waiting"`)
}

package dashboard

import (
	"archive/zip"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/order"
)

// invite invites a person, and signs a new browser in by the invitation.
func (f *fixture) invite(t *testing.T, name, role string) (browser *http.Client) {
	t.Helper()
	made := f.send(t, "/dashboard/settings/people", url.Values{"name": {name}, "role": {role}})
	made.must(t, http.StatusOK, "The invitation of "+name)
	link := html.UnescapeString(between(made.body, `id="invitation">`, "<"))
	before := f.browser
	f.browser = f.newBrowser(t)
	opened := strings.TrimPrefix(link, f.URL)
	for range 2 { // programs that show a preview of the link open it too
		f.get(t, opened).must(t, http.StatusOK, "You are invited as <strong>"+name)
	}
	f.use(t, opened).mustLead(t, "/dashboard")
	f.browser, browser = before, f.browser
	return browser
}

// TestPeople invites a member and an owner, and removes one. A member changes no keys, webhooks and people.
func TestPeople(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	const path = "/dashboard/settings/people"
	f.get(t, "/dashboard/settings/keys").must(t, http.StatusOK, `href="`+path+`"`)
	f.get(t, path).must(t, http.StatusOK, "Nobody is invited yet")
	for form, want := range map[string]string{"name=&role=member": "name must be", "name=default&role=owner": "not that of the account", "name=x&role=king": "role must be one of: owner, member."} {
		values, _ := url.ParseQuery(form)
		f.send(t, path, values).must(t, http.StatusBadRequest, want)
	}
	first := f.browser
	member, owner := f.invite(t, "Ana", "member"), f.invite(t, "Ben", "owner")
	f.get(t, path).must(t, http.StatusOK, "Ana", "Ben")

	f.browser = member
	f.get(t, "/dashboard").must(t, http.StatusOK, "<summary>Ana</summary>")
	keys := f.get(t, "/dashboard/settings/keys")
	keys.must(t, http.StatusOK, "Only an owner of the account may make or revoke keys.")
	if strings.Contains(keys.body, path) {
		t.Error("a member is led to the people")
	}
	f.get(t, path).must(t, http.StatusForbidden, "only an owner of the account may do this")
	for _, change := range []string{path, path + "/remove", "/dashboard/settings/keys", "/dashboard/webhooks"} {
		f.send(t, change, url.Values{"name": {"Ben"}, "url": {"https://example.com"}, "role": {"owner"}}).must(t, http.StatusForbidden, "only an owner")
	}
	f.send(t, "/dashboard/new", url.Values{"video": {"https://example.com/v.mp4"}, "audio": {"https://example.com/a.wav"}}).must(t, http.StatusSeeOther)

	f.browser = owner
	f.send(t, "/dashboard/settings/keys", url.Values{"name": {"x"}}).must(t, http.StatusOK)
	f.send(t, path+"/remove", url.Values{"name": {"Ana"}}).mustLead(t, path)
	f.send(t, "/dashboard/sign-out", url.Values{"everywhere": {"1"}}).mustLead(t, "/dashboard/sign-in")
	f.browser = first
	f.get(t, "/dashboard").must(t, http.StatusOK) // Ben ended only his own sessions

	f.browser = member
	f.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in") // removed
	f.browser = first
	again := f.invite(t, "Ana", "owner")
	f.send(t, "/dashboard/sign-out", url.Values{"everywhere": {"1"}}).mustLead(t, "/dashboard/sign-in")
	f.browser = again
	f.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in") // with the account, all whom it invited
}

// TestMemberSeesNoRefusal follows each link and sends each form that a member is shown. None is refused because they are no owner.
func TestMemberSeesNoRefusal(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	c := f.caller(t, account)
	hook, err := f.service.CreateWebhook(t.Context(), c, "https://example.com/hook", nil)
	if err != nil {
		t.Fatal(err)
	}
	id := f.add(t, c, "x")
	f.fail(t, id, noFace) // so that there are deliveries
	f.browser = f.invite(t, "Ana", "member")
	leads := regexp.MustCompile(`(href|action)="(/dashboard[^"]*)"`)
	tried := map[string]bool{}
	for _, page := range append(everyPage, "/dashboard/webhooks/"+hook.ID, "/dashboard/requests/"+id) {
		if page == "/dashboard/settings/people" {
			continue
		}
		shown := f.get(t, page)
		shown.must(t, http.StatusOK)
		for _, found := range leads.FindAllStringSubmatch(shown.body, -1) {
			kind, path := found[1], html.UnescapeString(found[2])
			if tried[kind+path] || strings.Contains(path, "/sign-out") || strings.Contains(path, "/static/") {
				continue
			}
			tried[kind+path] = true
			var got answer
			if kind == "href" {
				got = f.get(t, path)
			} else {
				got = f.send(t, path, url.Values{"name": {"x"}, "url": {"https://example.com"}})
			}
			if got.status == http.StatusForbidden {
				t.Errorf("%s: %s leads to a refusal", page, path)
			}
		}
	}
	if len(tried) < 15 {
		t.Errorf("got %d links and forms, want 15 or more", len(tried))
	}
	f.get(t, "/dashboard/webhooks/"+hook.ID).must(t, http.StatusOK, "Only an owner of the account may change webhooks.")
}

// TestOutputs downloads the outputs of a batch as one archive, without those that are gone. On AWS there is none.
func TestOutputs(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	c := f.caller(t, account)
	var p batches.Params
	for _, name := range []string{"spring/de", "fr", "../es"} {
		p.Lines = append(p.Lines, batches.Variant{Video: "https://example.com/v.mp4", Audio: "https://example.com/a.wav", Order: order.Order{ReferenceID: &name}})
	}
	b, _, err := f.service.CreateBatch(t.Context(), c, p)
	if err != nil {
		t.Fatal(err)
	}
	path := "/dashboard/batches/" + b.ID
	if page := f.get(t, path); strings.Contains(page.body, "/outputs") {
		t.Error("an archive without outputs is offered")
	}
	for _, n := range []int{0, 2} {
		f.output(t, b.RequestID(n), fmt.Appendf(nil, "output %d", n), nil)
	}
	f.get(t, path).must(t, http.StatusOK, path+"/outputs")
	got := f.get(t, path+"/outputs")
	archive, err := zip.NewReader(strings.NewReader(got.body), int64(len(got.body)))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, file := range archive.File {
		r, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file.Name+": "+string(content))
	}
	if want := "[0001 spring_de.mp4: output 0 0003 .._es.mp4: output 2]"; fmt.Sprint(files) != want {
		t.Errorf("got %q, want %s", files, want)
	}
	f.get(t, "/dashboard/batches/"+f.makeBatch(t, f.caller(t, "other"), 1).ID+"/outputs").must(t, http.StatusNotFound)
	r, err := f.service.Details(t.Context(), c, b.RequestID(0))
	if err == nil {
		err = f.service.Objects.Delete(t.Context(), r.Output)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.get(t, path+"/outputs").must(t, http.StatusOK)
	f.do(t, http.MethodHead, path+"/outputs", nil).must(t, http.StatusOK)
	handler := f.handler(t)
	handler.(*pages).archiving.Store(account, true)
	f.Config.Handler = handler
	f.get(t, path+"/outputs").must(t, http.StatusTooManyRequests, "another archive is being downloaded")
	f.change = func(o *Options) { o.Storage = f.address(t, "") }
	f.Config.Handler = f.handler(t)
	f.get(t, path+"/outputs").must(t, http.StatusNotFound)
}

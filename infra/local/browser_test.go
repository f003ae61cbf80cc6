package main

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"lipsync/internal/test/awstest"
	"lipsync/internal/test/browsertest"
)

// TestDashboard does a user's first visit in a real browser: the user is invited, sets a password,
// makes a key, syncs a video, and signs out, from Cognito too.
func TestDashboard(t *testing.T) {
	d := deployed(t, awstest.Enforcing(t))
	p := d.stranger(t)
	const first = "From-The-Mail-1"
	if err := d.invite(t.Context(), p.email, first); err != nil {
		t.Fatal(err)
	}
	b := browsertest.New(t)
	b.Open(d.Outputs["DashboardUrl"])
	b.Wait(`document.querySelector("#username")`)
	b.Do(chromedp.SendKeys("#username", p.email), chromedp.SendKeys("#password", first+"\n"))
	b.Wait(`document.querySelector("#new_password")`)
	b.Do(chromedp.SendKeys("#new_password", password), chromedp.SendKeys("#confirm_password", password+"\n"))
	b.Wait(`document.querySelector("nav[aria-label=Pages]")`)
	d.makeKey(t, b)
	d.syncInBrowser(b)
	b.SignOut()
	b.Open(d.Outputs["DashboardUrl"])
	b.Wait(`document.querySelector("#password")`)
}

// makeKey makes a key, calls the API with it, and revokes it.
func (d *testDeployment) makeKey(t *testing.T, b *browsertest.Browser) {
	t.Helper()
	b.Open(d.Outputs["DashboardUrl"] + "/settings/keys")
	b.Do(chromedp.SendKeys("input[name=name]", "laptop\n"))
	b.Wait(`document.querySelector("#token")`)
	token := browsertest.Eval[string](b, `document.querySelector("#token").textContent`)
	if curl := browsertest.Eval[string](b, `document.querySelector("#curl").textContent`); curl != `curl -H "Authorization: Bearer `+token+`" `+d.Outputs["ApiUrl"]+`/v1/users/me` {
		t.Errorf("got %s, want a call of this API", curl)
	}
	me := d.Outputs["ApiUrl"] + "/v1/users/me"
	if got := statusAt(t, me, token); got != http.StatusOK {
		t.Errorf("with the key: got %d, want 200", got)
	}
	b.Do(chromedp.Click("a.danger"))
	b.WaitText(".lead", "laptop")
	b.Do(chromedp.Click("main form button"))
	b.Wait(`document.querySelector("tr.over")`)
	if got := statusAt(t, me, token); got != http.StatusUnauthorized {
		t.Errorf("with the key that was revoked: got %d, want 401", got)
	}
}

// syncInBrowser sends two files to storage, and waits until both players can play.
func (d *testDeployment) syncInBrowser(b *browsertest.Browser) {
	b.Open(d.Outputs["DashboardUrl"] + "/new")
	b.Do(chromedp.SetUploadFiles("[data-drop=video] [data-file]", []string{fixtures.video}),
		chromedp.SetUploadFiles("[data-drop=audio] [data-file]", []string{fixtures.speech}),
		chromedp.Click("[data-start]"))
	b.Wait(`document.querySelector("[data-output]")?.readyState >= 2 && document.querySelector("[data-source]").readyState >= 2`)
}

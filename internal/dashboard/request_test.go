package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"lipsync/internal/lipsync"
)

// TestRequestPage follows a request through its states.
func TestRequestPage(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	c := h.caller(t, account)
	id := h.add(t, c, "order-1")
	path := "/dashboard/requests/" + id
	h.get(t, path).must(t, http.StatusOK, "order-1", "data-live", "Waiting for a worker", path+"/cancel", "https://example.com/v.mp4")

	ends := h.clock.Now().Add(65 * time.Second)
	r := h.start(t, id, lipsync.Progress{Stage: lipsync.Rendering, Percent: 62, Ends: ends})
	h.get(t, path).must(t, http.StatusOK, "data-live", `value="62"`, "rendering", "1 min 05 s left")

	if err := h.service.Complete(t.Context(), r, strings.NewReader("video"), -1); err != nil {
		t.Fatal(err)
	}
	done := h.get(t, path)
	done.must(t, http.StatusOK, "data-source", "data-output", "Download", `preload="none" aria-label="Source video"`)
	if strings.Contains(done.body, "data-live") || strings.Contains(done.body, path+"/cancel") {
		t.Error("a final request is still watched, or can be canceled")
	}
	output := html.UnescapeString(between(done.body, `class="button primary" href="`, `"`))
	h.get(t, output).must(t, http.StatusOK, "video")

	h.clock.Advance(lipsync.OutputLife)
	h.signIn(t)
	h.get(t, path).must(t, http.StatusOK, "kept for 30 days and is gone")
}

// between returns the text between the first two marks.
func between(text, start, end string) string {
	_, text, _ = strings.Cut(text, start)
	text, _, _ = strings.Cut(text, end)
	return text
}

// TestFailures finds something to do about each failure that the domain names.
func TestFailures(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	c := h.caller(t, account)
	hints := map[string]bool{}
	for _, sentence := range []string{
		"video URL is not accessible", "audio is not a supported format", "video has no picture", "no face found in the video",
		"video is longer than 60 minutes", "processing failed", "something new",
	} {
		id := h.add(t, c, "")
		h.fail(t, id, sentence)
		page := h.get(t, "/dashboard/requests/"+id)
		page.must(t, http.StatusOK, sentence, `role="alert"`)
		hints[hint(sentence)] = true
	}
	if len(hints) != 7 || hints[""] {
		t.Errorf("got the hints %v, want 7", hints)
	}
}

func TestCancel(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	c := h.caller(t, account)
	waits, done := h.add(t, c, ""), h.add(t, c, "")
	h.complete(t, done)
	for id, want := range map[string]string{waits: lipsync.Canceled, done: "Download"} {
		path := "/dashboard/requests/" + id
		for range 2 {
			h.send(t, path+"/cancel", nil).mustLead(t, path)
			h.get(t, path).must(t, http.StatusOK, want)
		}
	}
}

// TestOthersRequest tries to see, to cancel and to use what is another account's.
func TestOthersRequest(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	other := h.caller(t, "other")
	id := h.add(t, other, "theirs")
	for _, name := range []string{id, "theirs", "unknown"} {
		path := "/dashboard/requests/" + name
		h.get(t, path).must(t, http.StatusNotFound)
		h.send(t, path+"/cancel", nil).must(t, http.StatusNotFound)
	}
	u, err := h.service.CreateUpload(t.Context(), other, lipsync.Video, 5, "")
	if err != nil {
		t.Fatal(err)
	}
	h.send(t, "/dashboard/new", url.Values{"video": {u.Source}, "audio": {"https://example.com/a.wav"}}).
		must(t, http.StatusBadRequest, "video upload does not exist")
	if r, _, err := h.service.Request(t.Context(), other, id); err != nil || r.Status != lipsync.Queued {
		t.Errorf("got %v, %v, want it queued", r.Status, err)
	}
}

// TestByID finds requests by nothing but their ids, spelled as they are.
func TestByID(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	c := h.caller(t, account)
	const free = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	id := h.add(t, c, "ref one")
	h.add(t, c, free)
	for _, name := range []string{"ref%20one", free, strings.ToUpper(id)} {
		path := "/dashboard/requests/" + name
		h.get(t, path).must(t, http.StatusNotFound)
		h.send(t, path+"/cancel", nil).must(t, http.StatusNotFound)
	}
	if r, _, err := h.service.Request(t.Context(), c, id); err != nil || r.Status != lipsync.Queued {
		t.Errorf("got %v, %v, want it queued", r.Status, err)
	}
}

// TestNew sends two files as the script does, and the form that names them.
func TestNew(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	form := url.Values{"reference_id": {" order 1 "}, "model": {"wav2lip"}, "largest_face": {"on"}}
	for _, kind := range []string{"video", "audio"} {
		form.Set(kind, h.upload(t, kind))
	}
	made := h.send(t, "/dashboard/new", form)
	path := made.header.Get("Location")
	made.mustLead(t, path)
	r, _, err := h.service.Request(t.Context(), lipsync.Caller{Account: account}, "order 1")
	if err != nil || path != "/dashboard/requests/"+r.ID || r.Engine != "wav2lip" || !r.LargestFace || r.KeyID != "" {
		t.Errorf("got %s and %+v, %v", path, r, err)
	}
	h.get(t, path).must(t, http.StatusOK, "A file that was sent", "/objects/uploads/", `preload="metadata" aria-label="Source video"`)
	h.complete(t, r.ID)
	h.clock.Advance(lipsync.UploadLife)
	h.signIn(t)
	if err := h.service.Objects.Delete(t.Context(), r.Video.Object); err != nil {
		t.Fatal(err)
	}
	h.get(t, path).must(t, http.StatusOK, "The source is no longer kept.")
}

func (h *home) upload(t testing.TB, kind string) (source string) {
	t.Helper()
	const content = "bytes"
	announced := h.send(t, "/dashboard/uploads", url.Values{"type": {kind}, "size": {"5"}})
	announced.must(t, http.StatusOK)
	var to upload
	if err := json.Unmarshal([]byte(announced.body), &to); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, h.URL+to.Address, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	response, err := h.browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("upload: got %s", response.Status)
	}
	return to.Source
}

func TestBadNew(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	const address = "https://example.com/x"
	for _, c := range []struct{ video, audio, more, want string }{
		{"", address, "", "video URL must be"},
		{address, "ftp://example.com", "", "audio URL must be"},
		{address, "upload://x", "", "audio upload does not exist"},
		{address, address, "model=magic", "model must be one of: warp, wav2lip"},
		{address, address, "reference_id=" + strings.Repeat("x", 256), "reference_id must be"},
	} {
		form, err := url.ParseQuery(c.more)
		if err != nil {
			t.Fatal(err)
		}
		form.Set("video", c.video)
		form.Set("audio", c.audio)
		h.send(t, "/dashboard/new", form).must(t, http.StatusBadRequest, c.want, `value="`+c.video+`"`)
	}
	for form, want := range map[string]int{"type=video&size=x": http.StatusBadRequest, "type=film&size=5": http.StatusBadRequest,
		"type=audio&size=600000000": http.StatusRequestEntityTooLarge} {
		values, err := url.ParseQuery(form)
		if err != nil {
			t.Fatal(err)
		}
		h.send(t, "/dashboard/uploads", values).must(t, want, `{"error":`)
	}
}

// TestTwice sends a form two times, as a double click does without scripts, then
// with something changed, and the form of a page loaded anew.
func TestTwice(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	once := regexp.MustCompile(`name="once" value="([^"]+)"`)
	send := func(mark, reference string) string {
		made := h.send(t, "/dashboard/new", url.Values{"video": {"https://example.com/v"}, "audio": {"https://example.com/a"}, "once": {mark}, "reference_id": {reference}})
		made.must(t, http.StatusSeeOther)
		return made.header.Get("Location")
	}
	var marks [2]string
	for i := range marks {
		marks[i] = once.FindStringSubmatch(h.get(t, "/dashboard/new").body)[1]
	}
	first := send(marks[0], "a")
	if again := send(marks[0], "a"); again != first {
		t.Errorf("sent twice, it leads to %s and %s", first, again)
	}
	changed, other := send(marks[0], "b"), send(marks[1], "a")
	if changed == first || other == first || changed == other {
		t.Errorf("got %s, %s and %s, want three requests", first, changed, other)
	}
}

// TestRates makes as many requests as a minute allows.
func TestRates(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	h.service.GenerateRate = 2
	form := url.Values{"video": {"https://example.com/v"}, "audio": {"https://example.com/a"}}
	for _, want := range []int{http.StatusSeeOther, http.StatusSeeOther, http.StatusTooManyRequests} {
		h.send(t, "/dashboard/new", form).must(t, want)
	}
	h.service.ReadRate = 1
	page, script := h.send(t, "/dashboard/new", form), answer{}
	for range 2 {
		script = h.send(t, "/dashboard/uploads", url.Values{"type": {"video"}, "size": {"5"}})
	}
	for _, late := range []answer{page, script} {
		if late.must(t, http.StatusTooManyRequests); late.header.Get("Retry-After") != "60" {
			t.Errorf("got Retry-After %q, want 60", late.header.Get("Retry-After"))
		}
	}
}

// broken is a store that takes no uploads.
type broken struct{ lipsync.Store }

func (broken) CreateUpload(context.Context, lipsync.Upload) error {
	return errors.New("the disk is full")
}

// TestBrokenUpload tells the log why a file can't be taken, and the person that it
// can't.
func TestBrokenUpload(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	h.service.Store = broken{h.service.Store}
	got := h.send(t, "/dashboard/uploads", url.Values{"type": {"video"}, "size": {"5"}})
	got.must(t, http.StatusInternalServerError, `{"error":`)
	h.Close() // a call is logged after it was answered
	if said := h.log.String(); strings.Contains(got.body, "disk") || !strings.Contains(said, "level=ERROR") || !strings.Contains(said, "the disk is full") {
		t.Errorf("answered %s, logged %s", got.body, said)
	}
}

// TestText puts what would run as a script, or end what it is in, wherever a
// client's text is shown.
func TestText(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	for _, evil := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `javascript:alert(1)//`, `{{.CSRF}}`, "</title><script>",
	} {
		c := h.caller(t, account)
		id := h.add(t, c, evil)
		h.fail(t, id, evil)
		if _, _, err := h.service.CreateKey(t.Context(), account, evil, 0); err != nil {
			t.Fatal(err)
		}
		keys, _ := h.service.Keys(t.Context(), account)
		pages := map[string]answer{
			"list":    h.get(t, "/dashboard?"+url.Values{"reference_id": {evil}}.Encode()),
			"request": h.get(t, "/dashboard/requests/"+id),
			"keys":    h.get(t, "/dashboard/settings/keys"),
			"revoke":  h.get(t, "/dashboard/settings/keys/"+keys[len(keys)-1].ID+"/revoke"),
			"name":    h.send(t, "/dashboard/settings/keys", url.Values{"name": {evil}, "limit": {evil}}),
			"new":     h.send(t, "/dashboard/new", url.Values{"video": {evil}, "audio": {evil}, "reference_id": {evil}}),
		}
		for name, page := range pages {
			if strings.Contains(page.body, evil) && strings.ContainsAny(evil, `<>"'`) {
				t.Errorf("%s: %q is in the page as it is", name, evil)
			}
			if !strings.Contains(html.UnescapeString(page.body), evil) {
				t.Errorf("%s: %q is not shown", name, evil)
			}
			if strings.Contains(page.body, `href="javascript:`) {
				t.Errorf("%s: %q is a link that runs", name, evil)
			}
		}
	}
}

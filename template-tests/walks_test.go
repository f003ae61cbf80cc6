package templatetests

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/http/dashboard"
	"lipsync/internal/http/rest"
	"lipsync/internal/http/signin"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/dynamodb/queue"
	"lipsync/internal/test/check"
	"lipsync/internal/test/lipsynctest"
)

// walk is a service on a guarded table that has records of each kind, of the accounts a and b.
type walk struct {
	*service.Service
	guard   *guard
	clock   *lipsynctest.Clock
	objects *disk.Objects

	callers map[string]lipsync.Caller // by account; only the key of a has a limit
	webhook map[string]string         // the ids of their webhooks
	upload  string                    // of a, with its file; no request has it
	waiting string                    // a request of a
}

// newWalk returns a walk for a function.
func newWalk(t *testing.T, function string) *walk {
	w := &walk{guard: newGuard(t, function), clock: lipsynctest.NewClock(), callers: map[string]lipsync.Caller{}, webhook: map[string]string{}}
	var err error
	w.objects, err = disk.Open(t.TempDir(), w.clock.Now, slog.New(slog.DiscardHandler))
	check.Must(t, err)
	t.Cleanup(func() { w.objects.Close() })
	pool := small{w.guard.store.Queue, w.clock.Now}
	w.Service = lipsynctest.NewService(t, base.Config{
		GenerateRate: 301, ReadRate: 600, MaxVideo: 2 << 20, MaxAudio: 1 << 20, Engines: []string{"warp"}, Pooled: true, Workers: 5, SmallWorkers: 5,
		Limits: lipsync.Limits{Open: 12, Stored: 1 << 20},
	}, base.Ports{Store: w.guard.store.Store, Objects: w.objects, Hints: lossy{}, Now: w.clock.Now, Pool: pool, SmallPool: pool, Demand: w.guard.store.Queue})
	w.seed(t)
	kinds := "account batch batches calls claimed delivery freed idempotency key keyid keys pool rate request sessions upload usage used webhooks"
	check.Want(t, "kinds of partitions", strings.Join(slices.Sorted(maps.Keys(w.guard.written)), " "), kinds)
	return w
}

// small is a pool of workers that never begin.
type small struct {
	*queue.Queue
	now func() time.Time
}

func (s small) Count(ctx context.Context) (waiting, running int, err error) {
	return s.CountSmall(ctx, s.now())
}

func (s small) Start(ctx context.Context, n int) error {
	_, err := s.StartSmall(ctx, s.now(), n)
	return err
}

// seed writes records of each kind.
func (w *walk) seed(t *testing.T) {
	for account, limit := range map[string]int64{"a": 15, "b": 0} {
		_, k, err := w.CreateKey(t.Context(), account, "test", limit)
		check.Must(t, err)
		w.callers[account] = lipsync.Caller{Account: account, KeyID: k.ID}
		hook, err := w.CreateWebhook(t.Context(), w.callers[account], "https://example.com/"+account, nil)
		check.Must(t, err)
		w.webhook[account] = hook.ID
		for range 2 {
			w.waiting = w.generate(t, account, "")
		}
		check.Must(t, w.Allow(t.Context(), w.callers[account], lipsync.ReadCall))
		check.Must(t, w.Store.Calls.Note(t.Context(), account, lipsync.Call{ID: "c" + account, At: w.clock.Now()}))
		check.Must(t, w.guard.store.Sessions.EndAll(t.Context(), account))
		w.batch(t, account, "https://example.com/v.mp4", 1)
		_, err = w.Worked(t.Context(), lipsync.Stint{Took: time.Minute})
		check.Must(t, err)
	}
	w.waiting = w.generate(t, "a", "")
	w.fail(t, w.generate(t, "a", ""), failure.InternalFault)
	w.upload = w.announce(t)
}

// generate makes a request of an account, with an upload of it or a URL.
func (w *walk) generate(t *testing.T, account, video string) (id string) {
	t.Helper()
	if video == "" {
		video = "https://example.com/v.mp4"
	}
	reference, once := "reference", fmt.Sprint("once ", w.NewID())
	p := requests.Params{Video: requests.Source{URL: video}, Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/a.wav"}}}, IdempotencyKey: &once}
	p.ReferenceID = &reference
	id, err := w.Generate(t.Context(), w.callers[account], p)
	check.Must(t, err)
	return id
}

// claim lets a worker claim a request.
func (w *walk) claim(t *testing.T, id string) lipsync.Request {
	t.Helper()
	r, err := w.Claim(t.Context(), id)
	check.Must(t, err)
	return r
}

// fail lets a worker claim a request, and end it with a failure.
func (w *walk) fail(t *testing.T, id string, why failure.Reason) {
	t.Helper()
	check.Must(t, w.Fail(t.Context(), w.claim(t, id), failure.Failure{Code: why}))
}

// announce sends a file of the account a, and returns its URL.
func (w *walk) announce(t *testing.T) string {
	t.Helper()
	u, err := w.CreateUpload(t.Context(), w.callers["a"], requests.UploadParams{Kind: failure.Video, Size: 5})
	check.Must(t, err)
	check.Must(t, w.objects.Put(t.Context(), u.Object, strings.NewReader("bytes"), 5))
	return u.Source
}

// batch makes a batch of lines with the video for an account.
func (w *walk) batch(t *testing.T, account, video string, lines int) lipsync.Batch {
	t.Helper()
	var p batches.Params
	for i := range lines {
		p.Lines = append(p.Lines, batches.Variant{Video: video, Audio: fmt.Sprintf("https://example.com/%d.wav", i)})
	}
	b, _, err := w.CreateBatch(t.Context(), w.callers[account], p)
	check.Must(t, err)
	return b
}

// overrated is a store that shows a sweep a request with all of its attempts, of which a worker then gives one back.
type overrated struct {
	lipsync.Leases
	id string
}

func (o overrated) Open(ctx context.Context, now time.Time, limit int) ([]lipsync.Request, error) {
	all, err := o.Leases.Open(ctx, now, limit)
	for i := range all {
		if all[i].ID == o.id {
			all[i].Attempts = lipsync.MaxAttempts
		}
	}
	return all, err
}

// TestLeadingKeysOfSweep sweeps a table with records of each kind, and checks that the role of the sweep allows what it does, item by item, and nothing
// that it doesn't need.
func TestLeadingKeysOfSweep(t *testing.T) {
	w := newWalk(t, "sweep")
	spent := w.generate(t, "a", "")
	for range lipsync.MaxAttempts {
		w.claim(t, spent)
		w.clock.Advance(2 * lipsync.Lease)
	}
	paused := w.claim(t, w.generate(t, "a", ""))
	check.Must(t, lipsynctest.Postpone(t.Context(), w.Store.Leases, paused, w.clock.Now().Add(1000*time.Hour)))
	long := []lipsync.Batch{w.batch(t, "a", w.announce(t), 15), w.batch(t, "b", "https://example.com/v.mp4", 15)} // more lines than they may have open requests
	canceled := w.batch(t, "b", "https://example.com/v.mp4", 2)
	_, err := w.CancelBatch(t.Context(), w.callers["b"], canceled.ID)
	check.Must(t, err)
	w.Store.Leases = overrated{w.Store.Leases, w.waiting}
	for range 3 {
		w.clock.Advance(20 * time.Minute)
		check.Must(t, w.Sweep(as(t.Context(), "sweep")))
		for n := range 15 { // others come into their places
			for _, b := range long {
				if r, err := w.Store.Requests.ByID(t.Context(), b.RequestID(n)); err == nil && !r.Status.Final() {
					w.fail(t, r.ID, failure.InternalFault)
				}
			}
		}
	}
	w.clock.Advance(100 * 24 * time.Hour) // to the end of uploads
	w.Limits.Undelivered = 1
	check.Must(t, w.Sweep(as(t.Context(), "sweep")))
	w.guard.check(t)
	w.guard.checkUsed(t, "sweep")
}

// browser is a person's, who is signed in to the dashboard.
type browser struct {
	*http.Client
	url     string
	visited map[string]bool // routes that answered
}

var csrf = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// get returns a page.
func (b *browser) get(t *testing.T, path string) string { return b.do(t, http.MethodGet, path, nil) }

// send sends a form, and returns the page to which that leads.
func (b *browser) send(t *testing.T, path string, form url.Values) string {
	t.Helper()
	if form == nil {
		form = url.Values{}
	}
	if found := csrf.FindStringSubmatch(b.get(t, "/dashboard")); found != nil {
		form.Set("csrf", found[1])
	}
	return b.do(t, http.MethodPost, path, form)
}

func (b *browser) do(t *testing.T, method, path string, form url.Values) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, b.url+path, strings.NewReader(form.Encode()))
	check.Must(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := b.Do(r)
	check.Must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	check.Must(t, err)
	if response.StatusCode >= http.StatusBadRequest && response.StatusCode != http.StatusTooManyRequests {
		t.Logf("%s %s: %s", method, path, response.Status)
	}
	return string(body)
}

// browse serves the dashboard as the function with its name, and signs a person of the account a in.
func (w *walk) browse(t *testing.T) *browser {
	folder, err := signin.OpenFolder(t.TempDir(), w.clock.Now)
	check.Must(t, err)
	t.Cleanup(func() { folder.Close() })
	secret, err := folder.Secret()
	check.Must(t, err)
	pages, err := dashboard.New(w.Service, dashboard.Options{
		Log: slog.New(slog.DiscardHandler), SignIn: folder, Sessions: w.guard.store.Sessions, People: folder, Secret: secret, Document: rest.Document(),
	})
	check.Must(t, err)
	b := &browser{visited: map[string]bool{}}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		r = r.WithContext(as(r.Context(), "dashboard"))
		status := statusOf{answer, http.StatusOK}
		pages.ServeHTTP(&status, r)
		if status.code < http.StatusBadRequest {
			b.visited[r.Pattern] = true
		}
	}))
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	check.Must(t, err)
	b.Client, b.url = &http.Client{Jar: jar}, server.URL
	link, err := folder.NewLink("a")
	check.Must(t, err)
	b.get(t, link.String())
	b.do(t, http.MethodPost, "/dashboard/sign-in", url.Values{"token": {link.Query().Get("token")}})
	return b
}

// statusOf notes the status of an answer.
type statusOf struct {
	http.ResponseWriter
	code int
}

func (s *statusOf) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// id returns the id that the script gets which sent a form.
func id(body string) string {
	found := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(body)
	return append(found, "", "")[1]
}

// TestLeadingKeysOfDashboard opens each page of the dashboard and sends each form, and checks that its role allows what it does with the table, item by item,
// and nothing that it doesn't need.
func TestLeadingKeysOfDashboard(t *testing.T) {
	w := newWalk(t, "dashboard")
	b := w.browse(t)
	const address = "https://example.com/v.mp4"
	form := func(more ...string) url.Values {
		f := url.Values{"video": {address}, "audio": {"https://example.com/a.wav"}}
		for i := 0; i < len(more); i += 2 {
			f.Set(more[i], more[i+1])
		}
		return f
	}
	// Requests.
	for _, query := range []string{"", "?status=queued", "?reference_id=reference", "?status=failed&reference_id=reference"} {
		b.get(t, "/dashboard"+query)
	}
	b.get(t, "/dashboard/requests/"+w.waiting)
	for range 2 {
		b.send(t, "/dashboard/new", form("once", "1", "reference_id", "mine"))
	}
	b.send(t, "/dashboard/new", form("once", "1", "video", lipsync.UploadScheme+"gone"))
	b.get(t, "/dashboard/new?again="+w.waiting)
	b.send(t, "/dashboard/new", form("video", w.upload))
	mine, _, err := w.Store.Requests.List(t.Context(), "a", "", 0, 1)
	check.Must(t, err)
	b.send(t, "/dashboard/requests/"+mine[0].ID+"/cancel", nil)
	w.clock.Advance(2 * time.Hour) // no client can send the upload any more
	b.get(t, "/dashboard/requests/"+mine[0].ID+"/delete")
	b.send(t, "/dashboard/requests/"+mine[0].ID+"/delete", nil)
	for _, kind := range []string{"analyses", "estimates", "previews"} {
		b.get(t, "/dashboard/"+kind+"/"+id(b.send(t, "/dashboard/"+kind, form("from", "0"))))
	}
	b.send(t, "/dashboard/uploads", url.Values{"type": {"video"}, "size": {fmt.Sprint(w.Limits.Stored * 2 / 3)}})
	// Batches.
	b.send(t, "/dashboard/batches", form("list", "audio\nhttps://example.com/1.wav"))
	b.get(t, "/dashboard/batches")
	all, err := w.Store.Batches.List(t.Context(), "a", lipsync.Batch{}, 1)
	check.Must(t, err)
	batch := "/dashboard/batches/" + all[0].ID
	for _, path := range []string{"", "/outputs"} {
		b.get(t, batch+path)
	}
	b.send(t, batch+"/cancel", nil)
	// Webhooks.
	hooks := "/dashboard/webhooks"
	hook := hooks + "/" + w.webhook["a"]
	b.get(t, hooks)
	b.get(t, hook)
	b.send(t, hook+"/test", nil)
	list, err := w.Store.Webhooks.Deliveries(t.Context(), w.webhook["a"], "", 2)
	check.Must(t, err)
	for _, d := range list {
		d.State = lipsync.DeliveryFailed
		check.Must(t, w.Store.Webhooks.Swap(t.Context(), d))
	}
	b.send(t, hook+"/deliveries/"+list[0].ID+"/redeliver", nil)
	b.send(t, hook+"/redeliver", nil)
	of, err := w.Store.Webhooks.Of(t.Context(), "a")
	check.Must(t, err)
	of.List[0].FailingSince = w.clock.Now()
	check.Must(t, w.Store.Webhooks.Put(t.Context(), of))
	b.get(t, hook)
	for _, change := range []string{"rotate", "enable"} {
		b.send(t, hook+"/"+change, nil)
	}
	b.get(t, hook+"/delete")
	b.send(t, hook+"/delete", nil)
	b.send(t, hooks, url.Values{"url": {"https://example.com/new"}, "events": {"lipsync.completed"}})
	// Keys, people, and the rest.
	keys := "/dashboard/settings/keys"
	b.send(t, keys, url.Values{"name": {"second"}})
	b.get(t, keys)
	b.get(t, keys+"/"+w.callers["a"].KeyID+"/revoke")
	b.send(t, keys+"/"+w.callers["a"].KeyID+"/revoke", nil)
	people := "/dashboard/settings/people"
	b.send(t, people, url.Values{"name": {"Ana"}, "role": {"member"}})
	b.get(t, people)
	b.send(t, people+"/remove", url.Values{"name": {"Ana"}})
	tag := regexp.MustCompile(`/dashboard/api/[a-z-]+`).FindAllString(b.get(t, "/dashboard/api"), -1)
	for _, path := range append(tag, "/dashboard/usage", "/dashboard/calls", "/dashboard/api/first-call") {
		b.get(t, path)
	}
	for used := false; !used; { // up the account's rate, which has several lanes
		a, err := w.Store.Rates.Take(t.Context(), "generate/account a", 10*w.GenerateRate, w.clock.Now())
		check.Must(t, err)
		used = a.Refused
	}
	b.send(t, "/dashboard/new", form())
	b.send(t, "/dashboard/sign-out", url.Values{"everywhere": {"1"}})

	source, err := os.ReadFile("../internal/http/dashboard/dashboard.go")
	check.Must(t, err)
	for _, route := range regexp.MustCompile(`\{"((?:GET|POST) /dashboard/?[^"]*)", p\.`).FindAllStringSubmatch(string(source), -1) {
		if pattern := route[1]; !b.visited[pattern] && !slices.Contains([]string{"GET /dashboard/{$}", "GET /dashboard/settings", "GET /dashboard/signed-out", "GET /dashboard/static/{name}"}, pattern) {
			t.Errorf("%s was not visited", pattern)
		}
	}
	w.guard.check(t)
	w.guard.checkUsed(t, "dashboard")
}

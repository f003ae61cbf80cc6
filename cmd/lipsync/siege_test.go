package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/render/measure"
	storedisk "lipsync/internal/store/disk"
)

var siegeTime = flag.Duration("siege", 20*time.Second, "how long a siege lasts; its marks hold from a minute on, on a machine that does nothing else")

// Marks of a siege.
const (
	siegeRead    = time.Second      // 99 of 100 reads of the honest account are answered sooner
	siegeStart   = 10 * time.Second // its requests, of 2 s of speech, begin sooner
	siegeMemory  = 512 << 20        // bytes, of the server and its programs
	siegeReserve = 64 << 20         // bytes; as an account may store 128 MiB, the disk never has less
	besideTests  = 6                // by which a sample may be slower
)

// besieger is a client that does harm with one key, as often as its rates allow.
type besieger struct {
	testClient
	t      *testing.T
	server string // its own: slow to give and to take files, and without an answer to events
	video  string // an upload
	made   atomic.Int64
	ids    atomic.Value // string: of its last request
	// Webhooks: one whose URL fails, one that is tested, and one whose URL takes events.
	failing, tested, taking string
	batches                 []string // ids

	mu      sync.Mutex
	answers map[string]map[int]int // by attack and status, how many
}

// attack is one kind of harm. Its calls go on until ctx ends.
type attack struct {
	name  string
	every time.Duration
	call  func(b *besieger, ctx context.Context) (status int)
}

func attacks() []attack {
	return []attack{
		{"large record, canceled", 4 * time.Second, (*besieger).large},
		{"list of records", 300 * time.Millisecond, func(b *besieger, ctx context.Context) int {
			return b.try(ctx, http.MethodGet, "/api/v1/lipsync/requests?limit=100", "", nil, nil)
		}},
		{"slow source", 5 * time.Second, func(b *besieger, ctx context.Context) int {
			return b.generate(ctx, map[string]any{"inputs": inputs(b.server+"/video", b.server+"/audio")})
		}},
		{"slow target", 7 * time.Second, func(b *besieger, ctx context.Context) int {
			return b.generate(ctx, map[string]any{"inputs": inputs(b.video, b.server+"/speech.wav"), "output": map[string]any{"upload_url": b.server + "/target"}})
		}},
		{"output larger than the disk", 12 * time.Second, func(b *besieger, ctx context.Context) int {
			return b.generate(ctx, map[string]any{"inputs": inputs(b.video, b.server+"/long.wav"), "output": map[string]any{"format": "mov", "codec": "prores"}})
		}},
		{"findings of parts", 8 * time.Second, func(b *besieger, ctx context.Context) int {
			part := map[string]any{"start": float64(b.made.Load()%50) / 100, "seconds": .5}
			return b.generate(ctx, map[string]any{"inputs": inputs(b.video, b.server+"/speech.wav"), "preview": part})
		}},
		{"puts at once", 5 * time.Second, (*besieger).puts},
		{"slow JSON", 5 * time.Second, func(b *besieger, ctx context.Context) int {
			return b.try(ctx, http.MethodPost, "/api/v1/webhooks", "application/json", slowly(ctx, `{"url": `), nil)
		}},
		{"slow form", 6 * time.Second, func(b *besieger, ctx context.Context) int {
			ctx, end := context.WithTimeout(ctx, 30*time.Second) // a key may send 16 bodies at a time
			defer end()
			const begin = "--x\r\nContent-Disposition: form-data; name=\"video\"; filename=\"v\"\r\n\r\n"
			return b.try(ctx, http.MethodPost, "/api/v1/lipsync/generate-with-media", "multipart/form-data; boundary=x", slowly(ctx, begin+strings.Repeat("x", 1<<20)), nil)
		}},
		{"slow calls of tools", time.Second, func(b *besieger, ctx context.Context) int {
			return b.try(ctx, http.MethodPost, "/mcp", "application/json", slowly(ctx, `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", `), nil)
		}},
		{"new webhook, tested, deleted", time.Second, (*besieger).webhook},
		{"tests of a webhook", 6 * time.Second, func(b *besieger, ctx context.Context) int {
			return b.try(ctx, http.MethodPost, "/api/v1/webhooks/"+b.tested+"/test", "application/json", strings.NewReader("{}"), nil)
		}},
		{"redelivery of all", 6 * time.Second, func(b *besieger, ctx context.Context) int {
			return b.try(ctx, http.MethodPost, "/api/v1/webhooks/"+b.failing+"/redeliver", "", nil, nil)
		}},
		{"redelivery of one", time.Second, (*besieger).redeliver},
		{"batch of 20, the one before canceled", 10 * time.Second, (*besieger).batch},
	}
}

// landed has the answer of each attack that does harm, 0 for a call that is held until the end, and how many there are at least, also in a sample.
var landed = map[string]struct{ status, least int }{
	"large record, canceled": {200, 2}, "list of records": {200, 20}, "slow source": {200, 2}, "slow target": {200, 2},
	"output larger than the disk": {200, 1}, "findings of parts": {200, 2}, "puts at once": {200, 2}, "puts, of four": {429, 6},
	"slow JSON": {0, 1}, "slow form": {0, 1}, "slow calls of tools": {0, 1}, "new webhook, tested, deleted": {200, 5},
	"tests of a webhook": {200, 2}, "redelivery of all": {200, 2}, "redelivery of one": {200, 4}, "batch of 20, the one before canceled": {200, 1},
}

// large makes a request with a record of nearly 64 KiB, and cancels it.
func (b *besieger) large(ctx context.Context) int {
	in := inputs(b.server+"/video", b.server+"/audio")
	for n := range 7 {
		in = append(in, map[string]string{"type": "audio", "ref": fmt.Sprint("r", n), "url": b.server + "/" + strings.Repeat("&", 7000)})
	}
	segments := []map[string]any{{"start": 0, "end": 1}}
	for n := range 7 {
		segments = append(segments, map[string]any{"start": n + 1, "end": n + 2, "audio": map[string]any{"ref": fmt.Sprint("r", n)}})
	}
	status := b.generate(ctx, map[string]any{"inputs": in, "segments": segments})
	if status == http.StatusOK {
		b.try(ctx, http.MethodDelete, "/api/v1/lipsync/requests/"+b.ids.Load().(string), "", nil, nil)
	}
	return status
}

// puts announces an upload and sends it four times at once, each without an end. Three uploads fit the account, and leave room for the records of
// other attacks.
func (b *besieger) puts(ctx context.Context) (status int) {
	var made struct {
		UploadURL string            `json:"upload_url"`
		Headers   map[string]string `json:"headers"`
	}
	if status := b.try(ctx, http.MethodPost, "/api/v1/uploads", "application/json", strings.NewReader(`{"type": "video", "size": 37748736}`), &made); status != http.StatusOK {
		return status
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodPut, made.UploadURL, slowly(ctx, strings.Repeat("x", 35<<20)))
			if err != nil {
				b.t.Error(err)
				return
			}
			r.ContentLength = 36 << 20
			for name, value := range made.Headers {
				r.Header.Set(name, value)
			}
			if response, err := http.DefaultClient.Do(r); err == nil {
				response.Body.Close()
				b.note("puts, of four", response.StatusCode)
			}
		})
	}
	all.Wait()
	return http.StatusOK
}

// webhook makes a webhook whose URL has no answer, tests it, and deletes it.
func (b *besieger) webhook(ctx context.Context) int {
	var made struct {
		ID string `json:"id"`
	}
	body, _ := json.Marshal(map[string]any{"url": fmt.Sprintf("%s/silent/%d", b.server, time.Now().UnixNano())})
	if status := b.try(ctx, http.MethodPost, "/api/v1/webhooks", "application/json", bytes.NewReader(body), &made); status != http.StatusOK {
		return status
	}
	status := b.try(ctx, http.MethodPost, "/api/v1/webhooks/"+made.ID+"/test", "application/json", strings.NewReader("{}"), nil)
	b.try(ctx, http.MethodDelete, "/api/v1/webhooks/"+made.ID, "", nil, nil)
	return status
}

// hook makes a webhook for all events at a path of the own server.
func (b *besieger) hook(t *testing.T, path string) (id string) {
	t.Helper()
	var made struct {
		ID string `json:"id"`
	}
	b.post(t, "/api/v1/webhooks", map[string]any{"url": b.server + path}, &made)
	return made.ID
}

// redeliver sends the oldest event that the webhook took once more.
func (b *besieger) redeliver(ctx context.Context) int {
	var page struct {
		Data []struct {
			ID     string `json:"id"`
			Status string `json:"status"`
		} `json:"data"`
	}
	path := "/api/v1/webhooks/" + b.taking + "/deliveries"
	if status := b.try(ctx, http.MethodGet, path+"?limit=10", "", nil, &page); status != http.StatusOK {
		return status
	}
	for _, d := range slices.Backward(page.Data) {
		if d.Status == string(lipsync.DeliveryDelivered) {
			return b.try(ctx, http.MethodPost, path+"/"+d.ID+"/redeliver", "", nil, nil)
		}
	}
	return http.StatusNotFound
}

// batch makes a batch whose media come slowly, and cancels the one before. Its answer is waited for also after ctx.
func (b *besieger) batch(ctx context.Context) int {
	var variants []map[string]any
	for n := range 20 {
		variants = append(variants, map[string]any{"audio": fmt.Sprintf("%s/audio/%d", b.server, n)})
	}
	text, err := json.Marshal(map[string]any{"video": b.server + "/video", "variants": variants})
	if err != nil {
		b.t.Error(err)
	}
	var made struct {
		ID string `json:"id"`
	}
	status := b.try(context.WithoutCancel(ctx), http.MethodPost, "/api/v1/lipsync/batches", "application/json", bytes.NewReader(text), &made)
	if status != http.StatusOK {
		return status
	}
	b.mu.Lock()
	b.batches = append(b.batches, made.ID)
	before := b.batches[:len(b.batches)-1]
	b.mu.Unlock()
	if len(before) > 0 {
		b.try(ctx, http.MethodDelete, "/api/v1/lipsync/batches/"+before[len(before)-1], "", nil, nil)
	}
	return status
}

// generate makes a request. Its answer is waited for also after ctx, so that made counts all.
func (b *besieger) generate(ctx context.Context, body map[string]any) int {
	text, err := json.Marshal(body)
	if err != nil {
		b.t.Error(err)
	}
	var made struct {
		ID string `json:"request_id"`
	}
	status := b.try(context.WithoutCancel(ctx), http.MethodPost, "/api/v1/lipsync/generate", "application/json", bytes.NewReader(text), &made)
	switch status {
	case http.StatusOK:
		b.made.Add(1)
		b.ids.Store(made.ID)
	case http.StatusBadRequest:
		b.t.Errorf("refused as a wrong call, which harms nobody: %.200s", text)
	}
	return status
}

// try makes a call, and returns the status of its answer, 0 without one.
func (b *besieger) try(ctx context.Context, method, path, contentType string, body io.Reader, answer any) int {
	var refused *statusError
	err := b.call(ctx, method, path, contentType, body, &answer)
	switch {
	case errors.As(err, &refused):
		return refused.status
	case err != nil:
		return 0
	}
	return http.StatusOK
}

func (b *besieger) note(attack string, status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answers[attack] == nil {
		b.answers[attack] = map[int]int{}
	}
	b.answers[attack][status]++
}

// run makes all attacks until ctx ends.
func (b *besieger) run(ctx context.Context) {
	var all sync.WaitGroup
	for _, a := range attacks() {
		all.Go(func() {
			for tick := time.Tick(a.every); ctx.Err() == nil; {
				all.Go(func() { b.note(a.name, a.call(b, ctx)) })
				select {
				case <-tick:
				case <-ctx.Done():
				}
			}
		})
	}
	all.Wait()
}

// slow is a body that has a text and then a byte each second, until ctx ends.
type slow struct {
	ctx  context.Context
	text *strings.Reader
}

func slowly(ctx context.Context, text string) io.Reader { return &slow{ctx, strings.NewReader(text)} }

func (s *slow) Read(p []byte) (int, error) {
	if s.text.Len() > 0 {
		return s.text.Read(p)
	}
	select {
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	case <-time.After(time.Second):
		return copy(p, " "), nil
	}
}

// slowServer serves speeches at once, and other files a byte a second; it takes a file as slowly, and never answers events except those that it
// takes or refuses at once.
func slowServer(t *testing.T, ctx context.Context, files map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if file, quick := files[r.URL.Path]; quick {
			http.ServeFile(w, r, file)
			return
		}
		switch r.URL.Path {
		case "/taking":
			return
		case "/failing":
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Length", "50000000")
		for r.Context().Err() == nil && ctx.Err() == nil {
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, "x")
				_ = http.NewResponseController(w).Flush()
			} else {
				_, _ = r.Body.Read(make([]byte, 1))
			}
			time.Sleep(time.Second)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// besieged is what is measured of the server and for the honest account.
type besieged struct {
	reads  []time.Duration
	memory int64
	least  int64 // bytes that were free on the disk
}

// watch reads with a key, and measures, until ctx ends.
func (w *besieged) watch(ctx context.Context, c testClient, pid int, disk smallDisk) {
	w.least = 1 << 62
	for n, tick := 0, time.Tick(250*time.Millisecond); ctx.Err() == nil; n++ {
		began, path := time.Now(), []string{"/api/v1/users/me", "/api/v1/lipsync/requests?limit=20"}[n%2]
		var answer any
		if err := c.call(ctx, http.MethodGet, path, "", nil, &answer); ctx.Err() == nil {
			took := time.Since(began)
			if err != nil {
				took = time.Hour // a read that fails is late
			}
			w.reads = append(w.reads, took)
		}
		if free, err := storedisk.Free(disk.path("")); err == nil {
			w.least = min(w.least, free)
		}
		if n%4 == 0 {
			w.memory = max(w.memory, measure.Memory(pid))
		}
		select {
		case <-tick:
		case <-ctx.Done():
		}
	}
}

// TestSiege has one key do all harm that its rates allow, on a machine with one worker and a small disk, beside an honest account that makes requests and
// reads them. The honest account hardly notices it, nothing is lost or doubled, and memory and disk are bounded.
func TestSiege(t *testing.T) {
	slack := time.Duration(1)
	if *siegeTime < time.Minute {
		slack = besideTests
	}
	s, disk := newSoaked(t), newSmallDisk(t, "512m")
	s.load.Pause = 6 * time.Second
	s.load.Jobs, s.load.Clients = max(2, int(*siegeTime/(2*s.load.Pause))), 1
	args := serveArgs(disk.data(), []string{"--workers", "1", "--disk-reserve", fmt.Sprint(siegeReserve), "--max-stored", "128MiB", "--allow-private-networks"})
	run := func() *server {
		return start(t, disk.path("data"), disk.within(append([]string{fixtures.program}, args...)...))
	}
	idleWebhooks(t, disk)
	s.use(run())
	honest, hostile := disk.newKey(t, "--account", "honest"), disk.newKey(t, "--account", "hostile")
	s.load.Tokens = []string{honest}
	ctx, end := context.WithTimeout(t.Context(), *siegeTime)
	defer end()
	long := t.TempDir() + "/long.wav"
	if err := runFFmpeg("-f", "lavfi", "-i", "sine=frequency=200:duration=200", "-ar", "16000", long); err != nil {
		t.Fatal(err)
	}
	b := &besieger{testClient: testClient{s.server.url, hostile}, t: t, answers: map[string]map[int]int{}}
	b.server = slowServer(t, ctx, map[string]string{"/speech.wav": fixtures.speech, "/long.wav": long})
	b.video = b.upload(t, "video", fixtures.video)
	b.failing, b.tested, b.taking = b.hook(t, "/failing"), b.hook(t, "/tested"), b.hook(t, "/taking")

	var all sync.WaitGroup
	var w besieged
	all.Go(func() { b.run(ctx) })
	all.Go(func() { w.watch(ctx, testClient{s.server.url, honest}, s.process.Process.Pid, disk) })
	s.start(t)
	all.Wait()
	s.finish(t)
	s.use(run()) // it cleans up
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
	data := disk.copied(t)
	for _, name := range slices.Sorted(maps.Keys(b.answers)) {
		t.Logf("| %s | %v |", name, b.answers[name])
		if want := landed[name]; b.answers[name][want.status] < max(1, want.least) {
			t.Errorf("%s: got the answers %v; %d must come at least %d times", name, b.answers[name], want.status, want.least)
		}
	}
	if len(b.answers) != len(landed) {
		t.Errorf("%d attacks had answers, want %d", len(b.answers), len(landed))
	}
	wantNamedFiles(t, data)
	starts := b.checkRecords(t, data, honest, hostile)
	s.check(t, data, fmt.Sprintf("a siege of %v", *siegeTime))
	slices.Sort(w.reads)
	late, begun := w.reads[len(w.reads)*99/100], slices.Max(starts)
	t.Logf("\n| reads | 99 of 100 within | slowest | requests | begin within | memory, MB | least free, MB |\n| %d | %v | %v | %d | %v | %d | %d |",
		len(w.reads), late.Round(time.Millisecond), w.reads[len(w.reads)-1].Round(time.Millisecond), len(starts), begun.Round(time.Millisecond), w.memory/1e6, w.least/1e6)
	if late > siegeRead*slack || begun > siegeStart*slack {
		t.Errorf("99 of 100 reads took up to %v, and requests began within %v; want %v and %v", late, begun, siegeRead*slack, siegeStart*slack)
	}
	if w.memory > siegeMemory || w.least < siegeReserve {
		t.Errorf("the server took %d bytes of memory, and the disk had only %d bytes free", w.memory, w.least)
	}
}

// idleWebhooks makes 10,000 webhooks of accounts that have no events, in a new data folder on the disk.
func idleWebhooks(t *testing.T, disk smallDisk) {
	t.Helper()
	data := t.TempDir()
	folder, err := datafolder.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 1000 {
		a := lipsync.AccountWebhooks{Account: fmt.Sprint("idle-", n)}
		for i := range 10 {
			a.List = append(a.List, lipsync.Webhook{ID: fmt.Sprintf("%d-%d", n, i), URL: fmt.Sprintf("https://example.com/%d/%d", n, i), CreatedAt: time.Now(), Secret: "whsec_"})
		}
		err = errors.Join(err, folder.Store.Webhooks.Put(t.Context(), a))
	}
	if err = errors.Join(err, folder.Close()); err == nil {
		err = os.CopyFS(disk.path("data"), os.DirFS(data))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// checkRecords checks that each request of the hostile key is there once, also those of batches, and returns how long those of the honest one waited.
func (b *besieger) checkRecords(t *testing.T, data, honest, hostile string) (waits []time.Duration) {
	t.Helper()
	folder, err := datafolder.Open(context.Background(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	s := serviceOn(t, folder)
	of := func(token string) (all []lipsync.Request, total int64) {
		caller, err := s.Authenticate(t.Context(), token)
		if err == nil {
			all, total, err = s.Requests(t.Context(), caller, service.ListQuery{Limit: 1000})
		}
		if err != nil {
			t.Fatal(err)
		}
		return all, total
	}
	all, err := s.Store.Batches.List(t.Context(), "hostile", lipsync.Batch{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(b.batches) {
		t.Errorf("the hostile key made %d batches, and %d are stored", len(b.batches), len(all))
	}
	lines := int64(0)
	for _, batch := range all {
		var ids []string
		for n := range batch.Lines {
			ids = append(ids, batch.RequestID(n))
		}
		made, err := s.Store.Requests.Several(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		lines += int64(len(made))
		for n := range batch.Lines {
			if there := slices.ContainsFunc(made, func(r lipsync.Request) bool { return r.ID == ids[n] }); batch.State(n).Made() && !there {
				t.Errorf("the request of line %d of the batch %s is lost", n, batch.ID)
			}
		}
	}
	if _, total := of(hostile); total != b.made.Load()+lines {
		t.Errorf("the hostile key made %d requests and %d of batches, and %d are stored", b.made.Load(), lines, total)
	}
	t.Logf("%d batches made %d requests", len(all), lines)
	requests, _ := of(honest)
	for _, r := range requests {
		waits = append(waits, r.StartedAt.Sub(r.CreatedAt))
	}
	return waits
}

package service_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/test/check"
)

func TestGenerate(t *testing.T) {
	f := newFixture(t)
	n := urls()
	n.LargestFace, n.ReferenceID = true, new("ref")
	id, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	got, err := f.Store.Requests.ByID(t.Context(), id)
	check.Must(t, err)
	check.Want(t, "request", got, lipsync.Request{
		ID: id, Account: "a", KeyID: f.caller.KeyID, ReferenceID: "ref", Status: lipsync.Queued,
		Video: lipsync.Input{URL: n.Video.URL}, Audio: lipsync.Input{URL: n.Audios[0].URL},
		LargestFace: true, Engine: "warp", CreatedAt: f.clock.Now(),
	})
	check.Want(t, "sent", strings.Join(f.queue.sent, ","), id)
}

func TestGenerateWithQueueDown(t *testing.T) {
	f := newFixture(t)
	f.queue.down = true
	id := f.generate(t, "")
	f.queue.down = false
	check.Must(t, f.Sweep(t.Context()))
	check.Want(t, "sent by the sweep", strings.Join(f.queue.sent, ","), id)
}

func TestGenerateTexts(t *testing.T) {
	f := newFixture(t)
	const (
		badReference = "reference_id must be 1 to 255 characters"
		badKey       = "Idempotency-Key must be 1 to 255 characters"
	)
	long := strings.Repeat("ü", 255)
	for _, c := range []struct {
		name    string
		change  func(n *requests.Params)
		message string
	}{
		{"longest", func(n *requests.Params) { n.ReferenceID = new(long) }, ""},
		{"empty reference", func(n *requests.Params) { n.ReferenceID = new("") }, badReference},
		{"long reference", func(n *requests.Params) { n.ReferenceID = new(long + "x") }, badReference},
		{"bytes", func(n *requests.Params) { n.ReferenceID = new("\xff") }, badReference},
		{"longest key", func(n *requests.Params) { n.IdempotencyKey = new(long) }, ""},
		{"empty key", func(n *requests.Params) { n.IdempotencyKey = new("") }, badKey},
		{"long key", func(n *requests.Params) { n.IdempotencyKey = new(long + "x") }, badKey},
	} {
		n := urls()
		c.change(&n)
		_, err := f.Generate(t.Context(), f.caller, n)
		code := failure.Invalid
		if c.message == "" {
			code = ""
		}
		check.Error(t, c.name, err, code, c.message)
	}
}

func TestGenerateEngine(t *testing.T) {
	f := newFixture(t) // with warp, the default, and wav2lip
	for _, c := range []struct{ engine, want string }{{"", "warp"}, {"warp", "warp"}, {"wav2lip", "wav2lip"}} {
		n := urls()
		n.Engine = c.engine
		id, err := f.Generate(t.Context(), f.caller, n)
		check.Must(t, err)
		r, err := f.Store.Requests.ByID(t.Context(), id)
		check.Must(t, err)
		check.Want(t, "engine for "+c.engine, r.Engine, c.want)
	}
	n := urls()
	n.Engine = "Warp"
	_, err := f.Generate(t.Context(), f.caller, n)
	check.Error(t, "unknown engine", err, failure.Invalid, "model must be one of: warp, wav2lip")
}

func TestGenerateReplay(t *testing.T) {
	f := newFixture(t)
	first := urls()
	first.IdempotencyKey = new("k")
	id, err := f.Generate(t.Context(), f.caller, first)
	check.Must(t, err)
	again, err := f.Generate(t.Context(), f.caller, first)
	check.Must(t, err)
	check.Want(t, "replayed id", again, id)
	check.Want(t, "messages sent", len(f.queue.sent), 1)

	for name, change := range map[string]func(n *requests.Params){
		"video":     func(n *requests.Params) { n.Video.URL += "x" },
		"audio":     func(n *requests.Params) { n.Audios[0].URL += "x" },
		"swapped":   func(n *requests.Params) { n.Video, n.Audios[0].Source = n.Audios[0].Source, n.Video },
		"flag":      func(n *requests.Params) { n.LargestFace = true },
		"engine":    func(n *requests.Params) { n.Engine = "warp" },
		"options":   func(n *requests.Params) { n.Options.NoFace = order.FailFaceless },
		"reference": func(n *requests.Params) { n.ReferenceID = new("r") },
		"endpoint": func(n *requests.Params) {
			n.Video, n.Audios[0].Source = requests.Source{Object: "inputs/x/video"}, requests.Source{Object: "inputs/x/audio"}
		},
	} {
		n := first
		n.Audios = slices.Clone(first.Audios)
		change(&n)
		_, err := f.Generate(t.Context(), f.caller, n)
		check.Error(t, name, err, failure.Reused, "idempotency key was used with a different request")
	}
	f.clock.Advance(24 * time.Hour)
	later, err := f.Generate(t.Context(), f.caller, first)
	check.Must(t, err)
	check.Want(t, "same id a day later", later == id, false)
}

// media stores both inputs of a new request.
func (f *fixture) media(t *testing.T, video, audio string) requests.Params {
	t.Helper()
	n := requests.Params{ID: f.NewRequestID(), Audios: make([]requests.Track, 1)}
	var err error
	n.Video, err = f.StoreMedia(t.Context(), n.ID, failure.Video, strings.NewReader(video))
	check.Must(t, err)
	n.Audios[0].Source, err = f.StoreMedia(t.Context(), n.ID, failure.Audio, strings.NewReader(audio))
	check.Must(t, err)
	return n
}

// wantObject checks whether an object exists.
func (f *fixture) wantObject(t *testing.T, key string, exists bool) {
	t.Helper()
	_, err := f.Objects.Size(t.Context(), key)
	check.Want(t, key+" exists", err == nil, exists)
}

func TestGenerateMedia(t *testing.T) {
	f := newFixture(t)
	send := func(video, audio string) (requests.Params, string, error) {
		n := f.media(t, video, audio)
		n.IdempotencyKey = new("k")
		id, err := f.Generate(t.Context(), f.caller, n)
		return n, id, err
	}
	first, id, err := send("v", "a")
	check.Must(t, err)
	check.Want(t, "id", id, first.ID)
	f.wantObject(t, first.Video.Object, true)
	check.Must(t, f.DiscardMedia(t.Context(), first)) // leaves an existing request as it is
	f.wantObject(t, first.Video.Object, true)

	again, id, err := send("v", "a")
	check.Must(t, err)
	check.Want(t, "replayed id", id, first.ID)
	f.wantObject(t, again.Video.Object, false)
	f.wantObject(t, again.Audios[0].Object, false)
	f.wantObject(t, first.Video.Object, true)

	other, _, err := send("v", "another")
	check.Error(t, "other contents", err, failure.Reused, "idempotency key was used with a different request")
	f.wantObject(t, other.Audios[0].Object, false)
}

func TestStoreMediaLimit(t *testing.T) {
	f := newFixture(t)
	f.MaxVideo, f.MaxAudio = 5, 4
	for _, c := range []struct {
		kind          failure.MediaKind
		text, message string
	}{
		{failure.Video, "fives", ""},
		{failure.Video, "sixsix", "video is larger than 5 bytes"},
		{failure.Audio, "fives", "audio is larger than 4 bytes"},
	} {
		src, err := f.StoreMedia(t.Context(), "id", c.kind, strings.NewReader(c.text))
		code := failure.TooLarge
		if c.message == "" {
			code = ""
		}
		check.Error(t, c.text, err, code, c.message)
		if c.message == "" {
			f.wantObject(t, src.Object, true)
		}
	}
	f.wantObject(t, "inputs/id/audio", false)
}

func TestTokenLimit(t *testing.T) {
	f := newFixture(t)
	_, c := f.newCaller(t, "a", 1)
	bad := urls()
	bad.Video.URL = "ftp://example.com/"
	_, err := f.Generate(t.Context(), c, bad)
	check.Error(t, "refused", err, failure.Invalid, badVideoURL)
	_, err = f.Generate(t.Context(), c, urls())
	check.Must(t, err)
	_, err = f.Generate(t.Context(), c, urls())
	check.Error(t, "spent", err, failure.TokenLimit, "token limit reached")
}

// TestGenerateCancelled checks a client that has gone before its request is stored.
func TestGenerateCancelled(t *testing.T) {
	f := newFixture(t)
	n := f.media(t, "v", "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.Generate(ctx, f.caller, n)
	check.Error(t, "cancelled", err, failure.Internal, "internal error")
	f.wantEmpty(t)
}

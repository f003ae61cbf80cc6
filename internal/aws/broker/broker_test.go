package broker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/uuid"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
	"lipsync/internal/test/check"
	"lipsync/internal/test/lipsynctest"
)

// fixture is a service behind the broker, with a runner that calls it.
type fixture struct {
	*service.Service
	caller  lipsync.Caller
	records *Records
	opened  []policy // of sessions
	counted []string // begins and ends of small workers
	lost    int      // number of the next answers that are lost after the function gave them
	log     strings.Builder
}

func newFixture(t testing.TB) *fixture { return newFixtureFor(t, lipsync.DoesAll) }

// newFixtureFor returns a fixture whose runner has the duty.
func newFixtureFor(t testing.TB, d lipsync.Duty) *fixture {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
	check.Must(t, err)
	objects, err := disk.Open(t.TempDir(), time.Now, slog.New(slog.DiscardHandler))
	check.Must(t, err)
	t.Cleanup(func() { _, _ = store.Close(), objects.Close() })
	f := &fixture{}
	f.Service = lipsynctest.NewService(t, base.Config{Engines: []string{"warp", "wav2lip"}}, base.Ports{Store: store.Store, Objects: objects, Hints: noQueue{}})
	_, key, err := f.CreateKey(t.Context(), "a", "laptop", 0)
	check.Must(t, err)
	f.caller = lipsync.Caller{Account: "a", KeyID: key.ID, CallID: "call"}
	handle := Handler(f.Service, f, f, slog.New(slog.NewTextHandler(&f.log, nil)))
	f.records = NewRecords(func(ctx context.Context, text []byte) ([]byte, error) {
		answer, err := handle(ctx, text)
		if f.lost > 0 {
			f.lost--
			answer, err = handle(ctx, text)
		}
		return answer, err
	}, d)
	return f
}

// BeginSmall implements SmallWorkers.
func (f *fixture) BeginSmall(_ context.Context, start string) error { return f.count("begin", start) }

// EndSmall implements SmallWorkers.
func (f *fixture) EndSmall(_ context.Context, start string) error { return f.count("end", start) }

func (f *fixture) count(what, start string) error {
	if start != "1/a" {
		return failure.New(failure.NotFound, "no small worker was started so")
	}
	f.counted = append(f.counted, what)
	return nil
}

type noQueue struct{}

func (noQueue) Send(context.Context, lipsync.Request) error { return nil }

// Open implements Sessions.
func (f *fixture) Open(_ context.Context, name string, p policy) (*credentials, error) {
	f.opened = append(f.opened, p)
	return &credentials{Key: name, Secret: "secret", Token: "token", Until: time.Now().Add(sessionLife)}, nil
}

// claimed makes a request, and claims it by the function.
func (f *fixture) claimed(t testing.TB, change func(*requests.Params)) lipsync.Request {
	t.Helper()
	p := requests.Params{Video: requests.Source{URL: "https://example.com/v.mp4"}, Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/a.wav"}}}}
	if change != nil {
		change(&p)
	}
	id, err := f.Generate(t.Context(), f.caller, p)
	check.Must(t, err)
	r, err := f.records.Claim(t.Context(), "")
	check.Must(t, err)
	check.Want(t, "claimed request", r.ID, id)
	return r
}

func (f *fixture) stored(t testing.TB, id string) lipsync.Request {
	t.Helper()
	r, err := f.Store.Requests.ByID(t.Context(), id)
	check.Must(t, err)
	return r
}

// TestClaim claims a request with options, tracks and segments. The runner gets what it needs, and no more.
func TestClaim(t *testing.T) {
	f := newFixture(t)
	if _, err := f.records.Claim(t.Context(), ""); failure.CodeOf(err) != failure.NotFound {
		t.Errorf("without requests: got %v, want not found", err)
	}
	reference := "ref"
	got := f.claimed(t, func(p *requests.Params) {
		p.ReferenceID, p.Audios[0].Ref = &reference, "one"
		p.Audios = append(p.Audios, requests.Track{Ref: "two", Source: requests.Source{URL: "https://example.com/b.wav"}})
		check.Must(t, p.Order.Options.Set("preview", "0,2"))
		check.Must(t, p.Order.Options.Set("width", "320"))
		segments, err := order.ParseSegments([]byte(`[{"start": 0, "end": 1, "audio": {"ref": "one"}}, {"start": 1, "end": 2, "audio": {"ref": "two"}}]`))
		check.Must(t, err)
		p.Segments = segments
	})
	want := f.stored(t, got.ID)
	want.KeyID, want.ReferenceID, want.Targets, want.CreatedAt, want.StartedAt, want.LeaseUntil = "", "", nil, time.Time{}, time.Time{}, time.Time{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, call := range []struct {
		id     string
		except []string
	}{{got.ID, nil}, {"", []string{"a"}}} {
		if _, err := f.records.Claim(t.Context(), call.id, call.except...); err == nil {
			t.Errorf("claim %v: got none, want an error", call)
		}
	}
}

// TestUnread claims a request with segments that can't be read. Without them an output would be wrong.
func TestUnread(t *testing.T) {
	r := lipsync.Request{ID: uuid.NewString()}
	r.Options.Unread = errors.New("segments of a request: no list")
	got, err := newClaimed(r).request()
	check.Must(t, err)
	if got.Options.Unread == nil || got.Options.Unread.Error() != r.Options.Unread.Error() {
		t.Errorf("got %v, want %v", got.Options.Unread, r.Options.Unread)
	}
}

// TestLife takes a request from its claim to its end. Of the last call the answer is lost, and it is made again.
func TestLife(t *testing.T) {
	f := newFixture(t)
	r := f.claimed(t, nil)
	progress := lipsync.Progress{Stage: order.Rendering, Percent: 40, Ends: time.Now().Add(time.Minute).UTC().Truncate(time.Second)}
	check.Must(t, errors.Join(
		f.records.Renew(t.Context(), r), f.records.Held(t.Context(), r), f.records.Report(t.Context(), r, progress), f.records.NoteVideo(t.Context(), r, [32]byte{5}),
	))
	now := f.stored(t, r.ID)
	check.Want(t, "progress", now.Progress, progress)
	check.Want(t, "video", now.VideoSum, [32]byte{5})
	if err := f.records.NoteVideo(t.Context(), r, [32]byte{6}); failure.CodeOf(err) != failure.NotFound {
		t.Errorf("note another video: got %v, want not found", err)
	}
	r.VideoLength, r.AudioLength = 3*time.Second, 4*time.Second
	o := lipsync.Outcome{
		Output: r.OutputKey(r.Claims), Poster: true, Length: 3 * time.Second, Size: 77, Frames: order.Frames{Total: 75, Synced: 70}, Warnings: order.QuietSpeech,
		Unsynced: order.Unsynced{Gaps: []order.Gap{{Start: 1, End: 2, Reason: order.NoFaceSeen}}, LeftOut: 1}, Sync: order.SyncScore{Known: true, Confidence: .5, Offset: 2},
	}
	f.lost = 1
	check.Must(t, f.records.Finish(t.Context(), r, o))
	check.Must(t, f.records.NoteSpeed(t.Context(), r, 1000, time.Hour))
	now = f.stored(t, r.ID)
	got := lipsync.Outcome{
		Output: now.Output, Poster: now.Poster, Length: now.Length, Size: now.Size, Frames: now.Frames, Warnings: now.Warnings, Unsynced: now.Unsynced, Sync: now.Sync,
	}
	if now.Status != lipsync.Completed || !reflect.DeepEqual(got, o) || now.VideoLength != r.VideoLength || now.AudioLength != r.AudioLength {
		t.Errorf("got %+v, want it completed with %+v", now, o)
	}
	speeds, err := f.Store.Speeds.All(t.Context())
	check.Must(t, err)
	if s := speeds[lipsync.EngineClass{Engine: "warp"}]; s.Requests != 1 || s.Took > time.Minute {
		t.Errorf("got the speed %+v, want no longer a time than that of the request", s)
	}
	if err := f.records.Held(t.Context(), r); failure.CodeOf(err) != failure.Conflict {
		t.Errorf("held after the end: got %v, want a conflict", err)
	}
}

// TestFaults ends attempts by faults as a runner sees them. The service must see the same.
func TestFaults(t *testing.T) {
	noSpace := failure.ErrNoSpace(nil)
	unreachable := failure.Failure{Code: failure.MediaUnreachable, Details: failure.Details{Kind: failure.Video, Status: 503, Cause: "video from example.com"}}
	for name, fault := range map[string]error{
		"ours":      errors.New("x"),
		"panic":     errors.New(strings.Repeat("x", maxMessage)),
		"input":     failure.Failure{Code: failure.NoFace}.Because(errors.New("x")),
		"disk":      noSpace,
		"transient": unreachable.Because(&failure.Error{Code: failure.Unavailable, RetryAfter: 20 * time.Minute}),
		"long":      failure.Failure{Code: failure.MediaUnsupported, Details: failure.Details{Kind: failure.Audio, Cause: strings.Repeat("\xff", maxMessage)}}.Because(nil),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			r := f.claimed(t, nil)
			got, again, err := f.records.Fault(t.Context(), r, fault, time.Second)
			check.Must(t, err)
			want := failure.Of(fault)
			if got.Code != want.Code || got.Status != want.Status || got.Kind != want.Kind {
				t.Errorf("got %+v, want %+v", got, want)
			}
			now := f.stored(t, r.ID)
			if ended := want.Code.Class() == failure.OfInput; ended != again.IsZero() || ended != now.Status.Final() {
				t.Errorf("got the next attempt at %s, and %s", again, now.Status)
			}
			if name == "transient" && time.Until(again) < 19*time.Minute {
				t.Errorf("got the next attempt in %s, want it not before the server asks for it", time.Until(again))
			}
			if name == "disk" && time.Until(again) > 30*time.Second {
				t.Errorf("got the next attempt in %s", time.Until(again))
			}
		})
	}
}

// TestRefusals sends messages about a request without its lease, and those that no runner sends.
func TestRefusals(t *testing.T) {
	f := newFixture(t)
	own, other := f.claimed(t, nil), f.claimed(t, nil)
	id, err := f.Generate(t.Context(), f.caller, requests.Params{Video: requests.Source{URL: "https://example.com/v.mp4"}, Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/a.wav"}}}})
	check.Must(t, err)
	waiting := f.stored(t, id)
	before := f.stored(t, other.ID)
	for _, r := range []lipsync.Request{{ID: other.ID, Lease: own.Lease}, {ID: other.ID}, waiting, {ID: waiting.ID, Lease: own.Lease}, {ID: "../" + own.ID, Lease: own.Lease}} {
		for _, do := range []operation{renew, held, report, noteVideo, release, enlarge, fault, finish, noteSpeed, session} {
			c := on(r, do)
			c.Progress.Stage = order.Rendering
			c.Video, c.Key, c.Ended.Fault = make([]byte, 32), r.OutputKey(1), newError(errors.New("x"), failure.Of(nil))
			c.Ended.Outcome.Output = r.OutputKey(r.Claims)
			if err := f.records.did(t.Context(), c); failure.CodeOf(err) != failure.Conflict && failure.CodeOf(err) != failure.Invalid {
				t.Errorf("%s of %s with the token %q: got %v, want it refused", do, r.ID, r.Lease, err)
			}
		}
	}
	canceled := newError(failure.Failure{Code: failure.Canceled}.Because(nil), failure.Failure{Code: failure.Canceled})
	for name, c := range map[string]message{
		"operation":        on(own, "cancel"),
		"fault":            {Do: fault, ID: own.ID, Lease: own.Lease},
		"cancel":           {Do: fault, ID: own.ID, Lease: own.Lease, Ended: ended{Fault: canceled}},
		"failed outcome":   {Do: finish, ID: own.ID, Lease: own.Lease, Ended: ended{Outcome: lipsync.Outcome{Failure: failure.Failure{Code: failure.NoFace}}}},
		"other's output":   {Do: finish, ID: own.ID, Lease: own.Lease, Ended: ended{Outcome: lipsync.Outcome{Output: other.OutputKey(1)}}},
		"no output":        {Do: finish, ID: own.ID, Lease: own.Lease},
		"progress":         {Do: report, ID: own.ID, Lease: own.Lease, Progress: lipsync.Progress{Percent: 100}},
		"stage":            {Do: report, ID: own.ID, Lease: own.Lease, Progress: lipsync.Progress{Stage: "<b>", Percent: 1}},
		"video":            {Do: noteVideo, ID: own.ID, Lease: own.Lease, Video: []byte("short")},
		"time":             {Do: worked, Took: -1},
		"too long a time":  {Do: worked, Took: maxTook + 1},
		"class":            {Do: worked, Class: "huge"},
		"size":             {Do: noteSpeed, ID: own.ID, Lease: own.Lease, Size: -1},
		"speed before end": {Do: noteSpeed, ID: own.ID, Lease: own.Lease, Size: 1},
		"start":            {Do: beginSmall, Start: "../x"},
		"no start":         {Do: endSmall},
		"key":              {Do: session, ID: own.ID, Lease: own.Lease, Key: "*"},
	} {
		if err := f.records.did(t.Context(), c); failure.CodeOf(err) != failure.Invalid && failure.CodeOf(err) != failure.Conflict {
			t.Errorf("%s: got %v, want it refused", name, err)
		}
	}
	if after := f.stored(t, other.ID); !reflect.DeepEqual(before, after) {
		t.Errorf("the other request is %+v, and was %+v", after, before)
	}
	check.Must(t, f.records.Held(t.Context(), own))
	if len(f.opened) > 0 {
		t.Errorf("sessions with %v were opened", f.opened)
	}
	if !strings.Contains(f.log.String(), "a runner's message is refused") {
		t.Errorf("the log doesn't tell of refusals: %s", &f.log)
	}
}

// stints is a lipsync.Demand that keeps stints.
type stints struct {
	lipsync.Demand
	all []lipsync.Stint
}

func (s *stints) Worked(_ context.Context, of lipsync.Stint) (time.Duration, error) {
	s.all = append(s.all, of)
	return time.Duration(len(s.all)) * time.Minute, nil
}

// TestWorked notes a stint as the worker tells it.
func TestWorked(t *testing.T) {
	f, noted, want := newFixture(t), &stints{}, lipsync.Stint{Class: lipsync.Neural, Took: time.Second, Duty: lipsync.DoesNeural}
	f.Pooled, f.Demand = true, noted
	all, err := f.records.Worked(t.Context(), want)
	if err != nil || all != time.Minute || !slices.Equal(noted.all, []lipsync.Stint{want}) {
		t.Errorf("got %v, %v and the stints %+v, want %+v", all, err, noted.all, want)
	}
}

// TestSmall claims for a runner that does only small requests. It gives one back that turns out large, which it doesn't get again.
func TestSmall(t *testing.T) {
	f, engine := newFixtureFor(t, lipsync.DoesSmall), "wav2lip"
	large, err := f.Generate(t.Context(), f.caller, requests.Params{
		Video: requests.Source{URL: "https://example.com/v.mp4"}, Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/a.wav"}}}, Order: order.Order{Engine: engine},
	})
	check.Must(t, err)
	r := f.claimed(t, nil)
	check.Must(t, f.records.Enlarge(t.Context(), r))
	check.Want(t, "class", f.stored(t, r.ID).Class, lipsync.Large)
	if got, err := f.records.Claim(t.Context(), ""); failure.CodeOf(err) != failure.NotFound {
		t.Errorf("got %s (%v), want none of %s and %s", got.ID, err, large, r.ID)
	}
	check.Must(t, errors.Join(f.records.BeginSmall(t.Context(), "1/a"), f.records.EndSmall(t.Context(), "1/a")))
	check.Want(t, "small workers", strings.Join(f.counted, " "), "begin end")
	if err := f.records.BeginSmall(t.Context(), "2/b"); failure.CodeOf(err) != failure.NotFound {
		t.Errorf("a start that nobody made: got %v", err)
	}
}

// TestDuties claims for runners of each duty, in a stack with GPUs.
func TestDuties(t *testing.T) {
	for duty, engine := range map[lipsync.Duty]string{lipsync.DoesPlain: "warp", lipsync.DoesNeural: "wav2lip"} {
		f, ids := newFixtureFor(t, duty), map[string]string{}
		for _, engine := range []string{"wav2lip", "warp"} {
			id, err := f.Generate(t.Context(), f.caller, requests.Params{
				Video: requests.Source{URL: "https://example.com/v.mp4"}, Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/a.wav"}}}, Order: order.Order{Engine: engine},
			})
			check.Must(t, err)
			ids[engine] = id
		}
		r, err := f.records.Claim(t.Context(), "")
		check.Must(t, err)
		check.Want(t, "claimed by "+string(duty), r.ID, ids[engine])
		if got, err := f.records.Claim(t.Context(), ""); failure.CodeOf(err) != failure.NotFound {
			t.Errorf("%s: got %s (%v), want none", duty, got.ID, err)
		}
	}
	if _, err := newFixtureFor(t, "none").records.Claim(t.Context(), ""); failure.CodeOf(err) != failure.Invalid {
		t.Errorf("a duty that there isn't: got %v", err)
	}
}

// TestUnknown is of calls to another function's language, and of a store that fails.
func TestUnknown(t *testing.T) {
	f := newFixture(t)
	handle := Handler(f.Service, f, f, slog.New(slog.DiscardHandler))
	for _, text := range []string{"", "{", "[]", `{"do":"claim","id":1}`, `{"do":"claim"} {}`, `{"do":"claim","more":1}`, `"` + strings.Repeat("x", maxMessage) + `"`} {
		answered, err := handle(t.Context(), json.RawMessage(text))
		var a answer
		check.Must(t, errors.Join(err, json.Unmarshal(answered, &a)))
		check.Want(t, "code", a.Error.Code, failure.Invalid)
	}
	r := f.claimed(t, nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.records.Renew(ended, r); err == nil || failure.CodeOf(err) == failure.Conflict {
		t.Errorf("a store that fails: got %v, want an error that doesn't say that the lease is lost", err)
	}
}

// TestRights checks which objects a request reaches.
func TestRights(t *testing.T) {
	r := lipsync.Request{
		ID: uuid.NewString(), Account: "a", Claims: 2, VideoSum: [32]byte{1}, Video: lipsync.Input{Object: "uploads/" + uuid.NewString()}, Audio: lipsync.Input{URL: "https://example.com"},
	}
	findings := lipsync.FindingsOf("a", r.VideoSum)
	output := policy{
		{replaces, "outputs/" + r.ID + "/2.*"}, {reads, "pieces/" + r.ID + "/*"}, {writes, "pieces/" + r.ID + "/2/*"},
	}
	for key, want := range map[string]policy{
		r.Video.Object:                             {{reads, r.Video.Object}},
		"outputs/" + r.ID + "/2.mp4":               output,
		"pieces/" + r.ID + "/1/0":                  output,
		findings + "x":                             {{append(append([]string{}, reads...), replaces...), findings + "*"}},
		"uploads/" + r.ID:                          nil,
		"inputs/" + r.ID + "/video":                nil, // it has none
		"outputs/" + uuid.NewString() + "/2.mp4":   nil,
		"pieces/" + uuid.NewString() + "/1/0":      nil,
		lipsync.FindingsOf("b", r.VideoSum) + "x":  nil,
		lipsync.FindingsOf("a", [32]byte{2}) + "x": nil,
		"findings/":                                nil, "models/models.json": nil, "": nil,
	} {
		got, err := rights(r, key)
		if !reflect.DeepEqual(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: got %v, %v, want %v", key, got, err, want)
		}
		if text := got.json("arn:aws-us-gov:s3:::" + strings.Repeat("b", 63)); len(text) > 1024 { // AWS takes 2048, and packs them
			t.Errorf("%q: the policy has %d bytes: %s", key, len(text), text)
		}
	}
	const want = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Resource":"arn:aws:s3:::b/inputs/1/video"}]}`
	check.Want(t, "policy", policy{{reads, "inputs/1/video"}}.json("arn:aws:s3:::b"), want)
}

// TestFindingsSession asks for findings about two videos. The record has room for one.
func TestFindingsSession(t *testing.T) {
	f := newFixture(t)
	r := f.claimed(t, nil)
	ask := func(key string) error {
		c := on(r, session)
		c.Key = key
		return f.records.did(t.Context(), c)
	}
	check.Must(t, ask(lipsync.FindingsOf("a", [32]byte{1})+"x"))
	check.Want(t, "video", f.stored(t, r.ID).VideoSum, [32]byte{1})
	for _, key := range []string{lipsync.FindingsOf("a", [32]byte{2}) + "x", lipsync.FindingsOf("b", [32]byte{1}) + "x", lipsync.OwnFindings("a") + "x"} {
		if err := ask(key); err == nil {
			t.Errorf("%s: got a session, want none", key)
		}
	}
	check.Want(t, "sessions", len(f.opened), 1)
}

// stub is an object store that tells its credentials.
type stub struct {
	lipsync.Objects
	credentials aws.CredentialsProvider
}

func (s stub) Open(ctx context.Context, _ string) (io.ReadCloser, int64, error) {
	c, err := s.credentials.Retrieve(ctx)
	return io.NopCloser(strings.NewReader(c.AccessKeyID)), int64(len(c.AccessKeyID)), err
}

// TestObjects opens objects of two requests at once, and releases one. Objects of a scope share a session; requests share none.
func TestObjects(t *testing.T) {
	f := newFixture(t)
	objects := NewObjects(f.records, nil, func(c aws.CredentialsProvider) lipsync.Objects { return stub{credentials: c} })
	for n := range 10 {
		r := f.claimed(t, nil)
		ctx := lipsync.WithHeld(t.Context(), r)
		for _, key := range []string{r.OutputKey(1), r.Pieces() + "1/0", r.Pieces() + "1/1"} {
			content, _, err := objects.Open(ctx, key)
			check.Must(t, err)
			name, err := io.ReadAll(content)
			check.Must(t, err)
			check.Want(t, "session", string(name), "request-"+r.ID)
		}
		check.Want(t, "sessions", len(f.opened), n+1)
		if n%2 == 0 {
			continue // another is claimed beside it
		}
		check.Must(t, f.records.Release(t.Context(), r))
		if _, _, err := objects.Open(ctx, r.Pieces()+"1/0"); err != nil { // until the session ends
			t.Error(err)
		}
		if _, _, err := objects.Open(ctx, lipsync.FindingsOf("a", [32]byte{1})+"x"); failure.CodeOf(err) != failure.Conflict {
			t.Errorf("a new session after the release: got %v, want a conflict", err)
		}
		_, err := f.CancelByID(t.Context(), r.ID)
		check.Must(t, err)
	}
	check.Want(t, "leases with sessions", len(objects.leases), 1)
}

// TestObjectsOfMany has a runner of several requests at once hold one while it does many others. That one keeps its session, and of the others only the
// last ones do.
func TestObjectsOfMany(t *testing.T) {
	f := newFixtureFor(t, lipsync.DoesNeural)
	objects := NewObjects(f.records, nil, func(c aws.CredentialsProvider) lipsync.Objects { return stub{credentials: c} })
	claimed := func() lipsync.Request {
		return f.claimed(t, func(p *requests.Params) { p.Engine = "wav2lip" })
	}
	open := func(r lipsync.Request) {
		content, _, err := objects.Open(lipsync.WithHeld(t.Context(), r), r.OutputKey(1))
		check.Must(t, err)
		check.Must(t, content.Close())
	}
	long := claimed()
	for n := range 10 {
		open(long)
		open(claimed())
		check.Want(t, "sessions", len(f.opened), n+2)
	}
	check.Want(t, "leases with sessions", len(objects.leases), 4)
}

// FuzzMessage feeds the function what an attacker may send. It must answer, and change no request whose lease the text doesn't have.
func FuzzMessage(f *testing.F) {
	fixture := newFixture(f)
	r := fixture.claimed(f, nil)
	handle := Handler(fixture.Service, fixture, fixture, slog.New(slog.DiscardHandler))
	for _, do := range []operation{renew, held, report, noteVideo, release, enlarge, fault, finish, noteSpeed, worked, session, beginSmall} {
		c := on(r, do)
		c.Lease = "another"
		c.Video, c.Key, c.Ended.Outcome.Output, c.Ended.Fault = make([]byte, 32), r.OutputKey(1), r.OutputKey(1), newError(errors.New("x"), failure.Of(nil))
		text, err := json.Marshal(c)
		check.Must(f, err)
		f.Add(text)
	}
	before := fixture.stored(f, r.ID)
	f.Fuzz(func(t *testing.T, text []byte) {
		answered, err := handle(t.Context(), text)
		if err != nil || !json.Valid(answered) {
			t.Fatalf("got %s, %v", answered, err)
		}
		if after := fixture.stored(t, r.ID); !strings.Contains(string(text), r.Lease) && !reflect.DeepEqual(before, after) {
			t.Fatalf("the request is %+v, and was %+v", after, before)
		}
	})
}

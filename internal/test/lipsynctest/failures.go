package lipsynctest

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

func noFace() failure.Failure { return failure.Failure{Code: failure.NoFace} }

func canceledFailure() failure.Failure { return failure.Failure{Code: failure.Canceled} }

// failureOf returns a failure that has the words in its details.
func failureOf(words ...any) failure.Failure {
	return failure.Failure{Code: failure.CodecNotInstalled, Details: failure.Details{Codec: fmt.Sprint(words...)}}
}

// failures returns failures that together have all details.
func failures() []failure.Failure {
	details := func(code failure.Reason, d failure.Details) failure.Failure {
		return failure.Failure{Code: code, Details: d}
	}
	return []failure.Failure{
		noFace(),
		details(failure.MediaUnreachable, failure.Details{Kind: failure.Video, Status: 503, Cause: "video from a.example: the server answered 503"}),
		details(failure.MediaLargerThan, failure.Details{Kind: failure.Audio, Limit: failure.Quantity{Bytes: 1<<62 + 1}}),
		details(failure.MediaLongerThan, failure.Details{
			Kind: failure.Audio, Limit: failure.Quantity{Seconds: 3600}, Value: failure.Quantity{Seconds: 3600.000001},
		}),
		details(failure.PictureLargerThan, failure.Details{
			Kind: failure.Video, Limit: failure.Quantity{Width: 4096, Height: 2160}, Value: failure.Quantity{Width: 5000, Height: 64},
		}),
		details(failure.FrameRateAbove, failure.Details{
			Kind: failure.Video, Limit: failure.Quantity{FPS: 120}, Value: failure.Quantity{FPS: 240000. / 1001},
		}),
		details(failure.TooManyPixels, failure.Details{Limit: failure.Quantity{Gigapixels: 2000}, Value: failure.Quantity{Gigapixels: 2000.000001}}),
		details(failure.ModelNotInstalled, failure.Details{Model: "Größe \x00 '\"; --<"}),
		failureOf("prores"),
	}
}

func testPostpone(t *testing.T, store lipsync.Store) {
	r := held(t, store)
	must(t, store.Leases.Report(t.Context(), r.ID, "w", half()))
	r.Attempts, r.Delays, r.Fetching = 0, 1, 20*time.Minute+time.Microsecond
	r.MissingSince, r.UnreachableSince, r.FailingSince = at(7), at(8), at(9)
	other := r
	for _, token := range []string{"", "other"} {
		other.Lease = token
		wantCode(t, Postpone(t.Context(), store.Leases, other, at(100)), failure.Conflict)
	}
	must(t, Postpone(t.Context(), store.Leases, r, at(100).Add(999))) // no store keeps nanoseconds
	wantCode(t, Postpone(t.Context(), store.Leases, r, at(100)), failure.Conflict)
	for name, err := range map[string]error{
		"renew":   store.Leases.Renew(t.Context(), r.ID, "w", at(200)),
		"release": Release(t.Context(), store.Leases, r.ID, "w"),
		"finish":  Finish(t.Context(), store.Leases, r.ID, "w", at(10), lipsync.Outcome{Output: "late.mp4"}),
	} {
		want(t, name, failure.CodeOf(err), failure.Conflict)
	}
	r.Lease, r.LeaseUntil = "", at(100)
	wantStored(t, store, r)
	for _, id := range []string{r.ID, ""} {
		_, err := claim(t, store, id, "w2", 99)
		wantCode(t, err, failure.NotFound)
	}
	wantOpen(t, store, 99, 0)
	wantOpen(t, store, 100, 1)
	again, err := claim(t, store, "", "w2", 100)
	must(t, err)
	r.Claims, r.Attempts, r.Lease, r.LeaseUntil = 2, 1, "w2", at(160)
	want(t, "claimed again", again, r)
	again.MissingSince, again.UnreachableSince, again.FailingSince = time.Time{}, time.Time{}, time.Time{}
	must(t, Postpone(t.Context(), store.Leases, again, at(200)))
	r.MissingSince, r.UnreachableSince, r.FailingSince = time.Time{}, time.Time{}, time.Time{}
	r.Lease, r.LeaseUntil = "", at(200)
	wantStored(t, store, r)
}

// testDelaysEnd releases a request that was postponed before, and then lets its lease run out. Both
// end its delays.
func testDelaysEnd(t *testing.T, store lipsync.Store) {
	r := held(t, store)
	for _, second := range []int{100, 300} {
		r.MissingSince, r.UnreachableSince, r.FailingSince, r.Fetching = at(7), at(8), at(9), time.Minute
		r.Delays++
		must(t, Postpone(t.Context(), store.Leases, r, at(second)))
		delayed, err := claim(t, store, r.ID, fmt.Sprint("w", second), second)
		must(t, err)
		want(t, "beginning", delayed.UnreachableSince, at(8))
		if second == 100 {
			must(t, Release(t.Context(), store.Leases, r.ID, delayed.Lease))
		}
		r, err = claim(t, store, r.ID, fmt.Sprint("w", second, "b"), second+60)
		must(t, err)
		ended := r
		ended.MissingSince, ended.UnreachableSince, ended.FailingSince = time.Time{}, time.Time{}, time.Time{}
		want(t, "after another end", r, ended)
		want(t, "what fetches took", r.Fetching, time.Minute)
		want(t, "delays", r.Delays, delayed.Delays)
		wantStored(t, store, r)
	}
}

// testPostponeOne postpones a request while older and newer requests are claimed.
func testPostponeOne(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	var all []lipsync.Request
	for i := range 3 {
		r := newRequest("a", "")
		r.CreatedAt = at(i)
		_, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
		must(t, err)
		all = append(all, r)
	}
	r, err := claim(t, store, all[1].ID, "w", 10)
	must(t, err)
	must(t, Postpone(t.Context(), store.Leases, r, at(50)))
	for _, c := range []struct{ second, want int }{{20, 0}, {49, 2}, {50, 1}} {
		r, err := claim(t, store, "", fmt.Sprint("w", c.want), c.second)
		must(t, err)
		want(t, "claimed", r.ID, all[c.want].ID)
	}
}

// testPostponeOrCancel cancels a postponed request.
func testPostponeOrCancel(t *testing.T, store lipsync.Store) {
	r := held(t, store)
	must(t, Postpone(t.Context(), store.Leases, r, at(100)))
	canceled, err := Cancel(t.Context(), store.Leases, r.ID, at(50))
	must(t, err)
	want(t, "free from", canceled.LeaseUntil, time.Time{})
	_, err = claim(t, store, "", "w2", 100)
	wantCode(t, err, failure.NotFound)
}

// testPostponed has postponed requests, and others that are held, queued, released or final.
func testPostponed(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	var all []string
	for i, until := range []int{300, 100, 200, 200, 0, 0, 400} {
		id := add(t, store, "").ID
		all = append(all, id)
		r, err := claim(t, store, id, fmt.Sprint("w", i), 0)
		must(t, err)
		if until > 0 {
			must(t, Postpone(t.Context(), store.Leases, r, at(until)))
		}
	}
	add(t, store, "")
	must(t, Release(t.Context(), store.Leases, all[4], "w4"))
	_, err := Cancel(t.Context(), store.Leases, all[6], at(50))
	must(t, err)
	_, err = claim(t, store, all[3], "again", 200)
	must(t, err)
	for _, c := range []struct {
		after time.Time
		limit int
		want  []int
	}{
		{time.Time{}, 10, []int{1, 2, 0}},
		{time.Time{}, 2, []int{1, 2}},
		{at(100), 10, []int{2, 0}},
		{at(200).Add(-time.Microsecond), 10, []int{2, 0}},
		{at(300), 10, nil},
	} {
		got, err := store.Leases.Postponed(t.Context(), c.after, c.limit)
		must(t, err)
		var ids, wanted []string
		for _, r := range got {
			ids = append(ids, r.ID)
		}
		for _, i := range c.want {
			wanted = append(wanted, all[i])
		}
		want(t, fmt.Sprint("postponed until after ", c.after), fmt.Sprint(ids), fmt.Sprint(wanted))
	}
}

// testEndPause ends a pause if its end has not changed. It is no claim.
func testEndPause(t *testing.T, store lipsync.Store) {
	r := held(t, store)
	wantCode(t, EndPause(t.Context(), store.Leases, r, at(10)), failure.Conflict)
	must(t, Postpone(t.Context(), store.Leases, r, at(100)))
	r.Lease, r.LeaseUntil = "", at(99)
	wantCode(t, EndPause(t.Context(), store.Leases, r, at(10)), failure.Conflict)
	r.LeaseUntil = at(100)
	must(t, EndPause(t.Context(), store.Leases, r, at(10)))
	wantCode(t, EndPause(t.Context(), store.Leases, r, at(10)), failure.Conflict)
	wantCode(t, EndPause(t.Context(), store.Leases, lipsync.Request{ID: uuid.NewString(), LeaseUntil: at(100)}, at(10)), failure.Conflict)
	r.LeaseUntil = at(10)
	wantStored(t, store, r)
	again, err := claim(t, store, "", "w2", 10)
	must(t, err)
	want(t, "claimed", again.ID, r.ID)
	r.LeaseUntil = time.Time{} // as in a request that was never postponed
	wantCode(t, EndPause(t.Context(), store.Leases, r, at(20)), failure.Conflict)
}

// wantOpen checks the number of requests that are claimable at the second.
func wantOpen(t *testing.T, store lipsync.Store, second, n int) {
	t.Helper()
	open, err := store.Leases.Open(t.Context(), at(second), 10)
	must(t, err)
	want(t, "open requests", len(open), n)
}

// testFreeFailures ends requests of a key that may make three, in every way. Only requests that
// failed through no fault of the client stop counting, once.
func testFreeFailures(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 3)
	used := int64(0)
	for i, c := range []struct {
		outcome lipsync.Outcome
		free    bool
	}{
		{lipsync.Outcome{Failure: failure.Failure{Code: failure.InternalFault}}, true},
		{lipsync.Outcome{Failure: failure.Failure{Code: failure.HostFailing}}, true},
		{lipsync.Outcome{Failure: failures()[1]}, true},
		{lipsync.Outcome{Output: "o"}, false},
		{lipsync.Outcome{Failure: noFace()}, false},
		{lipsync.Outcome{}, false}, // canceled
	} {
		token := fmt.Sprint("w", i)
		r, err := claim(t, store, add(t, store, "").ID, token, 0)
		must(t, err)
		used++
		wantUsed(t, store, "a", used)
		if reflect.DeepEqual(c.outcome, lipsync.Outcome{}) {
			_, err := Cancel(t.Context(), store.Leases, r.ID, at(9))
			must(t, err)
		} else {
			must(t, Finish(t.Context(), store.Leases, r.ID, token, at(9), c.outcome))
			wantCode(t, Finish(t.Context(), store.Leases, r.ID, token, at(9), c.outcome), failure.Conflict)
		}
		if c.free {
			used--
		}
		wantUsed(t, store, "a", used)
	}
	_, _, err := store.Requests.Create(t.Context(), newRequest("a", ""), nil, nil, lipsync.Limits{})
	wantCode(t, err, failure.TokenLimit)

	r := newRequest("a", "") // made by a person
	r.KeyID = ""
	_, _, err = store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
	must(t, err)
	_, err = claim(t, store, r.ID, "w", 0)
	must(t, err)
	must(t, Finish(t.Context(), store.Leases, r.ID, "w", at(9), lipsync.Outcome{Failure: failure.Failure{Code: failure.InternalFault}}))
	wantUsed(t, store, "a", used)
}

// testConcurrentFree fails requests of a key while it makes others.
func testConcurrentFree(t *testing.T, store lipsync.Store) {
	const n = 8
	addKey(t, store, "a", 0)
	var all []string
	for i := range n {
		r, err := claim(t, store, add(t, store, "").ID, fmt.Sprint("w", i), 0)
		must(t, err)
		all = append(all, r.ID)
	}
	codes := together(2*n, func(i int) error {
		if i >= n {
			_, _, err := store.Requests.Create(t.Context(), newRequest("a", ""), nil, nil, lipsync.Limits{})
			return err
		}
		return Finish(t.Context(), store.Leases, all[i], fmt.Sprint("w", i), at(1), lipsync.Outcome{Failure: failure.Failure{Code: failure.InternalFault}})
	})
	wantCodes(t, codes, map[failure.Code]int{"": 2 * n})
	wantUsed(t, store, "a", n)
}

package lipsynctest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// half returns a progress with all fields set.
func half() lipsync.Progress {
	return lipsync.Progress{Stage: order.Rendering, Percent: 50, Ends: at(90)}
}

func testReport(t *testing.T, store lipsync.Store) {
	r := held(t, store)
	for _, p := range []lipsync.Progress{{Stage: order.Fetching}, half(), {Percent: 99}, {}, half()} {
		must(t, store.Leases.Report(t.Context(), r.ID, "w", p))
		r.Progress = p
		wantStored(t, store, r)
	}
	for _, token := range []string{"", "other"} {
		wantCode(t, store.Leases.Report(t.Context(), r.ID, token, lipsync.Progress{}), failure.Conflict)
	}
	wantCode(t, store.Leases.Report(t.Context(), uuid.NewString(), "w", half()), failure.Conflict)
	must(t, store.Leases.Renew(t.Context(), r.ID, "w", at(100)))
	r.LeaseUntil = at(100)
	wantStored(t, store, r)
}

// testNoteVideo notes a digest, which stays when the lease ends.
func testNoteVideo(t *testing.T, store lipsync.Store) {
	r := held(t, store)
	must(t, store.Leases.Report(t.Context(), r.ID, "w", half()))
	r.Progress = half()
	for _, video := range []string{"video", "another"} {
		r.VideoSum = sha256.Sum256([]byte(video))
		must(t, store.Leases.NoteVideo(t.Context(), r.ID, "w", r.VideoSum))
		wantStored(t, store, r)
	}
	late := sha256.Sum256([]byte("late"))
	for _, token := range []string{"", "other"} {
		wantCode(t, store.Leases.NoteVideo(t.Context(), r.ID, token, late), failure.Conflict)
	}
	wantCode(t, store.Leases.NoteVideo(t.Context(), uuid.NewString(), "w", late), failure.Conflict)
	must(t, Release(t.Context(), store.Leases, r.ID, "w"))
	wantCode(t, store.Leases.NoteVideo(t.Context(), r.ID, "w", late), failure.Conflict)
	again, err := claim(t, store, r.ID, "w2", 1)
	must(t, err)
	want(t, "digest in the next claim", again.VideoSum, r.VideoSum)
	wantCode(t, store.Leases.NoteVideo(t.Context(), r.ID, "w", late), failure.Conflict)
	canceled, err := Cancel(t.Context(), store.Leases, r.ID, at(9))
	must(t, err)
	want(t, "digest of the canceled request", canceled.VideoSum, r.VideoSum)
	wantCode(t, store.Leases.NoteVideo(t.Context(), r.ID, "w2", late), failure.Conflict)
	wantStored(t, store, canceled)
}

func testProgressEnds(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	for name, end := range map[string]func(id string) error{
		"release": func(id string) error { return Release(t.Context(), store.Leases, id, "w") },
		"complete": func(id string) error {
			return Finish(t.Context(), store.Leases, id, "w", at(9), lipsync.Outcome{Output: "o"})
		},
		"fail": func(id string) error {
			return Finish(t.Context(), store.Leases, id, "w", at(9), lipsync.Outcome{Failure: noFace()})
		},
		"cancel": func(id string) error {
			_, err := Cancel(t.Context(), store.Leases, id, at(9))
			return err
		},
		"claim again": func(id string) error { _, err := claim(t, store, id, "w2", 60); return err },
	} {
		r, err := claim(t, store, add(t, store, "").ID, "w", 0)
		must(t, err)
		must(t, store.Leases.Report(t.Context(), r.ID, "w", half()))
		must(t, end(r.ID))
		got, err := store.Requests.ByID(t.Context(), r.ID)
		must(t, err)
		want(t, "progress after "+name, got.Progress, lipsync.Progress{})
		wantCode(t, store.Leases.Report(t.Context(), r.ID, "w", half()), failure.Conflict)
		wantStored(t, store, got)
	}
}

// wantCanceled cancels the request at second 9 and checks the stored request.
func wantCanceled(t *testing.T, store lipsync.Store, r lipsync.Request) {
	t.Helper()
	got, err := Cancel(t.Context(), store.Leases, r.ID, at(9).Add(999)) // no store keeps nanoseconds
	must(t, err)
	r.Status, r.FinishedAt, r.Failure = lipsync.Failed, at(9), canceledFailure()
	r.Lease, r.LeaseUntil, r.Progress = "", time.Time{}, lipsync.Progress{}
	if r.StartedAt.IsZero() {
		r.StartedAt = at(9)
	}
	want(t, "canceled", got, r)
	wantStored(t, store, r)
	open, err := store.Leases.Open(t.Context(), at(1000), 10)
	must(t, err)
	want(t, "open requests", len(open), 0)
	for _, reference := range []string{"", "x"} {
		page, _, err := store.Requests.List(t.Context(), "a", reference, 0, 1)
		must(t, err)
		want(t, "listed as", fmt.Sprint(page[0].Status, page[0].StartedAt, page[0].FinishedAt, page[0].Failure),
			fmt.Sprint(r.Status, r.StartedAt, r.FinishedAt, r.Failure))
	}
	for _, id := range []string{r.ID, ""} {
		_, err := claim(t, store, id, "late", 1000)
		wantCode(t, err, failure.NotFound)
	}
}

func testCancelQueued(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 1)
	wantCanceled(t, store, add(t, store, "x"))
	wantUsed(t, store, "a", 1) // a canceled request counts
}

func testCancelProcessing(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	r, err := claim(t, store, add(t, store, "x").ID, "w", 0)
	must(t, err)
	must(t, store.Leases.Report(t.Context(), r.ID, "w", half()))
	wantCanceled(t, store, r)
	final, err := store.Requests.ByID(t.Context(), r.ID)
	must(t, err)
	for name, err := range map[string]error{
		"renew":   store.Leases.Renew(t.Context(), r.ID, "w", at(99)),
		"report":  store.Leases.Report(t.Context(), r.ID, "w", half()),
		"release": Release(t.Context(), store.Leases, r.ID, "w"),
		"finish":  Finish(t.Context(), store.Leases, r.ID, "w", at(10), lipsync.Outcome{Output: "late.mp4"}),
	} {
		want(t, name, failure.CodeOf(err), failure.Conflict)
	}
	wantStored(t, store, final)
}

func testCancelFinal(t *testing.T, store lipsync.Store) {
	r := held(t, store)
	must(t, Finish(t.Context(), store.Leases, r.ID, "w", at(5), lipsync.Outcome{Output: "o.mp4"}))
	final, err := store.Requests.ByID(t.Context(), r.ID)
	must(t, err)
	_, err = Cancel(t.Context(), store.Leases, r.ID, at(9))
	wantCode(t, err, failure.Conflict)
	wantStored(t, store, final)
	_, err = Cancel(t.Context(), store.Leases, uuid.NewString(), at(9))
	wantCode(t, err, failure.NotFound)
}

func testConcurrentCancels(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	id := add(t, store, "").ID
	won := make([]bool, 10)
	codes := together(10, func(i int) error {
		_, err := Cancel(t.Context(), store.Leases, id, at(i))
		won[i] = err == nil
		return err
	})
	wantCodes(t, codes, map[failure.Code]int{"": 1, failure.Conflict: 9})
	r, err := store.Requests.ByID(t.Context(), id)
	must(t, err)
	want(t, "end", r.FinishedAt, at(slices.Index(won, true)))
}

// testCancelOrFinish has a client cancel a request while a worker finishes it.
func testCancelOrFinish(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	for range 10 {
		r, err := claim(t, store, add(t, store, "").ID, "w", 0)
		must(t, err)
		var canceled, finished error
		codes := together(2, func(i int) error {
			if i == 0 {
				_, canceled = Cancel(t.Context(), store.Leases, r.ID, at(9))
				return canceled
			}
			finished = Finish(t.Context(), store.Leases, r.ID, "w", at(9), lipsync.Outcome{Output: "o.mp4"})
			return finished
		})
		wantCodes(t, codes, map[failure.Code]int{"": 1, failure.Conflict: 1})
		got, err := store.Requests.ByID(t.Context(), r.ID)
		must(t, err)
		want(t, "canceled", got.Status == lipsync.Failed && got.Failure == canceledFailure() && got.Output == "", canceled == nil)
		want(t, "completed", got.Status == lipsync.Completed && got.Failure == failure.Failure{} && got.Output == "o.mp4", finished == nil)
	}
}

// testCancelOrClaim has a client cancel a request while a worker claims it. The worker may be
// first, but in the end it does not hold the request.
func testCancelOrClaim(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	for range 10 {
		id := add(t, store, "").ID
		var canceled, claimed error
		together(2, func(i int) error {
			if i == 0 {
				_, canceled = Cancel(t.Context(), store.Leases, id, at(9))
			} else {
				_, claimed = claim(t, store, id, "w", 0)
			}
			return nil
		})
		must(t, canceled)
		r, err := store.Requests.ByID(t.Context(), id)
		must(t, err)
		want(t, "status", r.Status, lipsync.Failed)
		want(t, "lease", r.Lease, "")
		want(t, "was claimed", r.Claims == 1, claimed == nil)
		wantCode(t, store.Leases.Renew(t.Context(), id, "w", at(99)), failure.Conflict)
	}
}

package lipsync_test

import (
	"reflect"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// TestTransitions changes requests in each state in each way, and compares the fields that differ afterwards.
func TestTransitions(t *testing.T) {
	start := time.Unix(1_800_000_000, 0).UTC()
	at := func(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }
	queued := lipsync.Request{ID: "r", KeyID: "k", Status: lipsync.Queued, CreatedAt: start}
	held := queued
	held.Status, held.StartedAt, held.Claims, held.Attempts, held.Lease, held.LeaseUntil = lipsync.Processing, at(1), 1, 1, "w", at(61)
	held.Progress, held.VideoSum = lipsync.Progress{Percent: 50}, [32]byte{7}
	postponed := held
	postponed.Lease, postponed.LeaseUntil, postponed.Progress, postponed.Attempts, postponed.Delays = "", at(100), lipsync.Progress{}, 0, 1
	postponed.MissingSince, postponed.UnreachableSince, postponed.FailingSince, postponed.Fetching = at(2), at(3), at(4), time.Minute
	delayed := held // by an earlier attempt
	delayed.MissingSince, delayed.UnreachableSince, delayed.FailingSince = at(2), at(3), at(4)
	final := held
	final.Lease, final.LeaseUntil, final.Progress, final.Status, final.FinishedAt = "", time.Time{}, lipsync.Progress{}, lipsync.Completed, at(9)
	final.Output, final.Poster, final.Size = "o", true, 5
	deleted := final
	deleted.MediaDeletedAt, deleted.Output, deleted.Poster, deleted.VideoSum = at(10), "", false, [32]byte{}

	type change func(lipsync.Request) (lipsync.Request, error)
	claim := func(second int) change {
		return func(r lipsync.Request) (lipsync.Request, error) {
			return r.Claimed("x", at(second).Add(999), time.Minute)
		}
	}
	release := func(token string) change {
		return func(r lipsync.Request) (lipsync.Request, error) { return r.Released(token) }
	}
	postpone := func(lease string) change {
		attempted := lipsync.Request{
			ID: "other", Lease: lease, Attempts: 2, Delays: 3, Fetching: time.Hour,
			MissingSince: at(11).Add(999), UnreachableSince: at(12), FailingSince: at(13), Claims: 99,
		}
		return func(r lipsync.Request) (lipsync.Request, error) { return r.Postponed(attempted, at(200).Add(999)) }
	}
	resume := func(until int) change {
		return func(r lipsync.Request) (lipsync.Request, error) { return r.Resumed(at(until), at(50).Add(999)) }
	}
	good := lipsync.Outcome{Output: "o", Poster: true, Length: time.Second, Size: 7, Frames: order.Frames{Total: 25, Synced: 24},
		Warnings: "w", Sync: order.SyncScore{Known: true}, VideoLength: 2 * time.Second, AudioLength: 3 * time.Second}
	end := func(token string, o lipsync.Outcome) change {
		return func(r lipsync.Request) (lipsync.Request, error) { return r.Ended(token, at(50).Add(999), o) }
	}
	failed := failure.Failure{Code: failure.InternalFault}
	canceled := failure.Failure{Code: failure.Canceled}
	cancel := func(r lipsync.Request) (lipsync.Request, error) { return r.Canceled(at(50).Add(999)) }
	enlarge := func(token string) change {
		return func(r lipsync.Request) (lipsync.Request, error) { return r.Enlarged(token) }
	}
	neural := delayed
	neural.Class = lipsync.Neural
	forget := func(r lipsync.Request) (lipsync.Request, error) { return r.WithoutMedia(at(50).Add(999)) }
	type to func(*lipsync.Request)
	none := to(func(*lipsync.Request) {})
	idle := func(r *lipsync.Request) { r.Lease, r.LeaseUntil, r.Progress = "", time.Time{}, lipsync.Progress{} }
	noDelays := func(r *lipsync.Request) {
		r.MissingSince, r.UnreachableSince, r.FailingSince = time.Time{}, time.Time{}, time.Time{}
	}
	claimed := func(second int) to {
		return func(r *lipsync.Request) {
			r.Status, r.Lease, r.LeaseUntil, r.Progress = lipsync.Processing, "x", at(second+60), lipsync.Progress{}
			r.Claims, r.Attempts = r.Claims+1, r.Attempts+1
		}
	}
	for name, c := range map[string]struct {
		from lipsync.Request
		do   change
		code failure.Code
		to   to
	}{
		"claim nothing":           {lipsync.Request{}, claim(5), failure.NotFound, nil},
		"claim a queued one":      {queued, claim(5), "", func(r *lipsync.Request) { claimed(5)(r); r.StartedAt = at(5) }},
		"claim a held one":        {held, claim(60), failure.NotFound, nil},
		"claim a dead one":        {delayed, claim(61), "", func(r *lipsync.Request) { claimed(61)(r); noDelays(r); r.Class = lipsync.Large }},
		"claim a dead neural one": {neural, claim(61), "", func(r *lipsync.Request) { claimed(61)(r); noDelays(r) }},
		"claim a postponed one":   {postponed, claim(99), failure.NotFound, nil},
		"claim a due one":         {postponed, claim(100), "", claimed(100)},
		"claim a final one":       {final, claim(999), failure.NotFound, nil},

		"release nothing":        {lipsync.Request{}, release("w"), failure.Conflict, nil},
		"release a held one":     {delayed, release("w"), "", func(r *lipsync.Request) { idle(r); noDelays(r); r.Attempts-- }},
		"enlarge a held one":     {delayed, enlarge("w"), "", func(r *lipsync.Request) { idle(r); noDelays(r); r.Attempts--; r.Class = lipsync.Large }},
		"enlarge a neural one":   {neural, enlarge("w"), failure.Conflict, nil},
		"enlarge another's":      {held, enlarge("x"), failure.Conflict, nil},
		"enlarge a final one":    {final, enlarge("w"), failure.Conflict, nil},
		"release another's":      {held, release("x"), failure.Conflict, nil},
		"release without token":  {queued, release(""), failure.Conflict, nil},
		"release a final one":    {final, release("w"), failure.Conflict, nil},
		"postpone nothing":       {lipsync.Request{}, postpone("w"), failure.Conflict, nil},
		"postpone another's":     {held, postpone("x"), failure.Conflict, nil},
		"postpone without token": {postponed, postpone(""), failure.Conflict, nil},
		"postpone a held one": {held, postpone("w"), "", func(r *lipsync.Request) {
			idle(r)
			r.LeaseUntil, r.Attempts, r.Delays, r.Fetching = at(200), 2, 3, time.Hour
			r.MissingSince, r.UnreachableSince, r.FailingSince = at(11), at(12), at(13)
		}},

		"resume nothing":          {lipsync.Request{}, resume(100), failure.Conflict, nil},
		"resume a postponed one":  {postponed, resume(100), "", func(r *lipsync.Request) { r.LeaseUntil = at(50) }},
		"resume after a change":   {postponed, resume(101), failure.Conflict, nil},
		"resume a held one":       {held, resume(61), failure.Conflict, nil},
		"resume a queued one":     {queued, func(r lipsync.Request) (lipsync.Request, error) { return r.Resumed(time.Time{}, at(1)) }, failure.Conflict, nil},
		"complete nothing":        {lipsync.Request{}, end("w", good), failure.Conflict, nil},
		"complete another's":      {held, end("x", good), failure.Conflict, nil},
		"complete without token":  {queued, end("", good), failure.Conflict, nil},
		"complete a final one":    {final, end("w", good), failure.Conflict, nil},
		"fail a held one":         {held, end("w", lipsync.Outcome{Failure: failed}), "", func(r *lipsync.Request) { idle(r); r.Status, r.FinishedAt, r.Failure = lipsync.Failed, at(50), failed }},
		"cancel nothing":          {lipsync.Request{}, cancel, failure.NotFound, nil},
		"cancel a final one":      {final, cancel, failure.Conflict, nil},
		"delete media of nothing": {lipsync.Request{}, forget, failure.NotFound, nil},
		"delete media of open":    {held, forget, failure.Conflict, nil},
		"delete media": {final, forget, "", func(r *lipsync.Request) {
			r.MediaDeletedAt, r.Output, r.Poster, r.VideoSum = at(50), "", false, [32]byte{}
		}},
		"delete media again": {deleted, forget, "", none},
		"complete a held one": {held, end("w", good), "", func(r *lipsync.Request) {
			idle(r)
			r.Status, r.FinishedAt, r.Output, r.Poster, r.Length, r.Size = lipsync.Completed, at(50), "o", true, time.Second, 7
			r.Frames, r.Warnings, r.Sync, r.VideoLength, r.AudioLength = good.Frames, "w", good.Sync, 2*time.Second, 3*time.Second
		}},
		"cancel a queued one": {queued, cancel, "", func(r *lipsync.Request) {
			r.Status, r.StartedAt, r.FinishedAt, r.Failure = lipsync.Failed, at(50), at(50), canceled
		}},
		"cancel a held one": {held, cancel, "", func(r *lipsync.Request) {
			idle(r)
			r.Status, r.FinishedAt, r.Failure = lipsync.Failed, at(50), canceled
		}},
	} {
		got, err := c.do(c.from)
		if failure.CodeOf(err) != c.code {
			t.Errorf("%s: got the error %v, want %q", name, err, c.code)
			continue
		}
		if err != nil {
			continue
		}
		want := c.from
		if c.to(&want); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got\n%+v, want\n%+v", name, got, want)
		}
	}
}

// TestGivesBack tells which ends of requests give their key a use back.
func TestGivesBack(t *testing.T) {
	for _, c := range []struct {
		was, is lipsync.Status
		code    failure.Reason
		key     string
		want    bool
	}{
		{lipsync.Processing, lipsync.Failed, failure.InternalFault, "k", true},
		{lipsync.Processing, lipsync.Failed, failure.MediaUnreachable, "k", true},
		{lipsync.Processing, lipsync.Failed, failure.NoFace, "k", false},
		{lipsync.Queued, lipsync.Failed, failure.Canceled, "k", false},
		{lipsync.Processing, lipsync.Failed, failure.InternalFault, "", false},
		{lipsync.Failed, lipsync.Failed, failure.InternalFault, "k", false}, // its media were deleted
		{lipsync.Processing, lipsync.Completed, "", "k", false},
	} {
		r := lipsync.Request{Status: c.is, KeyID: c.key, Failure: failure.Failure{Code: c.code}}
		if got := r.GivesBack(c.was); got != c.want {
			t.Errorf("%+v: got %t", c, got)
		}
	}
}

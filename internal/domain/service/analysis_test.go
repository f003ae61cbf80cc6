package service_test

import (
	"reflect"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/test/check"
)

// analyze starts an analysis of a video.
func (f *fixture) analyze(t *testing.T, url string) (id string) {
	t.Helper()
	id, err := f.Analyze(t.Context(), f.caller, requests.Source{URL: url})
	check.Must(t, err)
	return id
}

// TestAnalysis makes an analysis, which is kept as long as an output, and is in no list.
func TestAnalysis(t *testing.T) {
	f := newFixture(t)
	id := f.analyze(t, "https://example.com/video")
	r, a, err := f.Analysis(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, "status", r.Status, lipsync.Queued)
	check.Want(t, "nothing found yet", a == nil, true)
	r, err = f.Claim(t.Context(), "")
	check.Must(t, err)
	check.Want(t, "claimed", r.ID == id && r.IsAnalysis(), true)
	check.Want(t, "account", r.Account, f.caller.Account)
	made := order.Analysis{
		Video: order.AnalyzedVideo{Seconds: 2.4, FPS: 25, Width: 160, Height: 96, Frames: 60},
		Faces: []order.AnalyzedFace{{ID: "0,40,48", Last: 2.4, Share: 1, Boxes: []order.FaceBox{{Box: [4]int{-1, 2, 3, 4}}}, JPEG: []byte("jpeg")}},
	}
	check.Must(t, f.CompleteAnalysis(t.Context(), r, made))
	check.Must(t, f.Tidy(t.Context(), 0))
	r, a, err = f.Analysis(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, "status", r.Status, lipsync.Completed)
	check.Want(t, "analysis", reflect.DeepEqual(a, &made), true)

	_, other := f.newCaller(t, "other", 0)
	for _, c := range []struct {
		caller lipsync.Caller
		id     string
	}{{other, id}, {f.caller, "x"}, {f.caller, f.generate(t, "")}, {f.caller, f.NewID()}} {
		_, _, err = f.Analysis(t.Context(), c.caller, c.id)
		check.Error(t, c.id, err, failure.NotFound, "analysis not found")
	}
	_, err = f.Details(t.Context(), f.caller, id)
	check.Error(t, "as a request", err, failure.NotFound, "lipsync request not found")
	_, total, err := f.Requests(t.Context(), f.caller, service.ListQuery{Limit: 10})
	check.Must(t, err)
	check.Want(t, "requests", total, 1)

	f.clock.Advance(30 * 24 * time.Hour)
	_, a, err = f.Analysis(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, "expired", a == nil, true)
	f.clock.Advance(3 * time.Hour)
	check.Must(t, f.Tidy(t.Context(), 0))
	f.wantEmpty(t)
}

// TestDeleteAnalysis deletes analyses: one that waits, one that a worker holds, and one that is completed.
func TestDeleteAnalysis(t *testing.T) {
	f := newFixture(t)
	_, other := f.newCaller(t, "other", 0)
	for _, status := range []lipsync.Status{lipsync.Queued, lipsync.Processing, lipsync.Completed} {
		id := f.analyze(t, "https://example.com/video")
		var r lipsync.Request
		if status != lipsync.Queued {
			var err error
			r, err = f.Claim(t.Context(), id)
			check.Must(t, err)
		}
		if status == lipsync.Completed {
			check.Must(t, f.CompleteAnalysis(t.Context(), r, order.Analysis{}))
		}
		_, err := f.DeleteAnalysis(t.Context(), other, id)
		check.Error(t, "of another account", err, failure.NotFound, "analysis not found")
		for range 2 {
			r, err := f.DeleteAnalysis(t.Context(), f.caller, id)
			check.Must(t, err)
			check.Want(t, "completed", r.Status == lipsync.Completed, status == lipsync.Completed)
			check.Want(t, "canceled", r.Failure.Code == failure.Canceled, status != lipsync.Completed)
			check.Want(t, "deleted", r.MediaDeletedAt.IsZero(), false)
		}
		_, a, err := f.Analysis(t.Context(), f.caller, id)
		check.Must(t, err)
		check.Want(t, "analysis", a == nil, true)
		f.wantEmpty(t)
	}
}

// TestAnalyzedUpload keeps an upload while an analysis of it is open, even if a request that used it later has ended.
func TestAnalyzedUpload(t *testing.T) {
	f := newFixture(t)
	u := f.upload(t, failure.Video, "video")
	id := f.analyze(t, u.Source)
	n := urls()
	n.Video = requests.Source{URL: u.Source}
	request, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	_, err = f.Cancel(t.Context(), f.caller, request)
	check.Must(t, err)
	f.clock.Advance(3 * 24 * time.Hour)
	check.Must(t, f.Sweep(t.Context()))
	f.wantObject(t, u.Object, true)
	r, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	check.Must(t, f.Fail(t.Context(), r, failure.Failure{Code: failure.NoPicture}))
	check.Must(t, f.Sweep(t.Context()))
	f.wantObject(t, u.Object, false)
}

// TestAnalyzeRefused refuses videos that can't be used, and analyses that are too large.
func TestAnalyzeRefused(t *testing.T) {
	f := newFixture(t)
	for url, sentence := range map[string]string{
		"file:///etc/passwd":                       "video URL must be an absolute http or https URL with a host, no user name and at most 8192 bytes",
		f.upload(t, failure.Audio, "audio").Source: "video upload was announced as audio",
	} {
		_, err := f.Analyze(t.Context(), f.caller, requests.Source{URL: url})
		check.Error(t, url, err, failure.Invalid, sentence)
	}
	r, err := f.Claim(t.Context(), f.analyze(t, "https://example.com/video"))
	check.Must(t, err)
	if f.CompleteAnalysis(t.Context(), r, order.Analysis{Faces: []order.AnalyzedFace{{JPEG: make([]byte, 4<<20)}}}) == nil {
		t.Error("an analysis was stored that is larger than an answer may be")
	}
}

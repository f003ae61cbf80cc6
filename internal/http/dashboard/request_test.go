package dashboard

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
)

// TestRequestPage follows a request through its states.
func TestRequestPage(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	c := f.caller(t, account)
	id := f.add(t, c, "order-1")
	path := "/dashboard/requests/" + id
	f.get(t, path).must(t, http.StatusOK, "order-1", "data-live", "Waiting for a worker", path+"/cancel", "https://example.com/v.mp4", "next in the queue<")
	f.service.Workers = 1
	if err := f.service.NoteSpeed(t.Context(), lipsync.Request{Engine: "warp"}, 1000, 70*time.Second); err != nil {
		t.Fatal(err)
	}
	behind := "/dashboard/requests/" + f.add(t, c, "")
	f.get(t, behind).must(t, http.StatusOK, "at place 2 of the queue", "done in about 2 min 20 s")

	ends := f.clock.Now().Add(65 * time.Second)
	r := f.start(t, id, lipsync.Progress{Stage: order.Rendering, Percent: 62, Ends: ends})
	f.get(t, path).must(t, http.StatusOK, "data-live", `value="62"`, "rendering", "1 min 05 s left")

	r.Unsynced = order.Unsynced{Gaps: []order.Gap{{Start: 3, End: 3.04, Reason: order.OutOfPicture}}}
	r.Frames, r.Warnings, r.Sync = order.Frames{Total: 250, Synced: 249}, order.ConvertedHDR.With(order.Signed), order.SyncScore{Known: true, Confidence: .998, Offset: -5, Spoken: order.Part{All: 200, Good: 199}}
	if err := f.service.Complete(t.Context(), r, strings.NewReader("video"), -1); err != nil {
		t.Fatal(err)
	}
	done := f.get(t, path)
	done.must(t, http.StatusOK, "250, of which 249 synced", "Not synced: 3.0–3.0 s, the face is partly out of the picture.", "Signed, by C2PA", "0.995. The lips come 5 frames before the speech. 1 of 200 frames with speech stay as in the video.", "HDR input was converted to SDR.", "As the speech: forward, then backward", "data-source", "data-output", "Download", `preload="none" aria-label="Source video"`)
	if strings.Contains(done.body, "data-live") || strings.Contains(done.body, path+"/cancel") {
		t.Error("a final request is still watched, or can be canceled")
	}
	output := html.UnescapeString(between(done.body, `class="button primary" href="`, `"`))
	f.get(t, output).must(t, http.StatusOK, "video")

	f.clock.Advance(lipsync.Retention{}.OutputLife())
	f.signIn(t)
	f.get(t, path).must(t, http.StatusOK, "The output expired", "Output expires")
}

// TestPosters shows posters in the list and on the page of a request. It shows none for an output that
// has none or that expired.
func TestPosters(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	c := f.caller(t, account)
	older, id := f.add(t, c, ""), f.add(t, c, "")
	f.complete(t, older)
	f.output(t, id, []byte("video"), []byte("jpeg"))
	list, page := f.get(t, "/dashboard"), f.get(t, "/dashboard/requests/"+id)
	for where, address := range map[string]string{
		"list": between(list.body, `class="poster"><img src="`, `"`), "page": between(page.body, ` poster="`, `"`),
	} {
		got := f.get(t, html.UnescapeString(address))
		got.must(t, http.StatusOK, "jpeg")
		if kind := got.header.Get("Content-Type"); kind != "image/jpeg" {
			t.Errorf("%s: got the type %s, want image/jpeg", where, kind)
		}
	}
	if n := strings.Count(list.body, `class="poster"><img`); n != 1 {
		t.Errorf("got %d pictures in the list of an output with a poster and one without, want 1", n)
	}
	if got := f.get(t, "/dashboard/requests/"+older); strings.Contains(got.body, "poster=") {
		t.Error("an output without a poster has one on its page")
	}
	f.clock.Advance(lipsync.Retention{}.OutputLife())
	f.signIn(t)
	if got := f.get(t, "/dashboard"); strings.Contains(got.body, `class="poster"><img`) {
		t.Error("the poster of an output that expired is shown")
	}
}

// unsignedPosters is a store of objects that can't sign the address of a poster.
type unsignedPosters struct{ lipsync.Objects }

func (o unsignedPosters) SignGet(ctx context.Context, key, name string, until time.Time) (*url.URL, error) {
	if strings.HasSuffix(key, ".jpg") {
		return unsigned{}.SignGet(ctx, key, name, until)
	}
	return o.Objects.SignGet(ctx, key, name, until)
}

// TestUnsignedPosters shows the list and the page of a request without pictures if posters
// can't be signed, and says why in the log. A page that can't link to its output is refused.
func TestUnsignedPosters(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	id := f.add(t, f.caller(t, account), "")
	f.output(t, id, []byte("video"), []byte("jpeg"))
	objects, path := f.service.Objects, "/dashboard/requests/"+id
	f.service.Objects = unsignedPosters{objects}
	for _, path := range []string{"/dashboard", path} {
		got := f.get(t, path)
		got.must(t, http.StatusOK, id[:8])
		if strings.Contains(got.body, `class="poster"><img`) || strings.Contains(got.body, "poster=") {
			t.Errorf("%s has a picture that has no address", path)
		}
	}
	f.get(t, path).must(t, http.StatusOK, "Download")
	f.service.Objects = unsigned{objects}
	f.get(t, "/dashboard").must(t, http.StatusOK, id[:8])
	f.get(t, path).must(t, http.StatusInternalServerError)
	f.Close() // a call is logged after it was answered
	if n := strings.Count(f.log.String(), "no poster is shown"); n != 4 {
		t.Errorf("got %d errors in the log, want 4:\n%s", n, f.log)
	}
}

// between returns the text between the first two marks.
func between(text, start, end string) string {
	_, text, _ = strings.Cut(text, start)
	text, _, _ = strings.Cut(text, end)
	return text
}

// TestFailures checks that each failure has a hint, and that the page shows it.
func TestFailures(t *testing.T) {
	fx := newFixture(t)
	fx.signIn(t)
	c := fx.caller(t, account)
	other := map[string]bool{order.Advice("of a newer version"): true}
	for _, code := range []failure.Reason{
		failure.MediaNotAccessible, failure.MediaPrivate, failure.MediaHostMissing, failure.MediaUnreachable, failure.MediaTooSlow, failure.MediaUnsupported,
		failure.MediaLongerThan, failure.MediaTruncated, failure.VideoIsPicture, failure.NoPicture, failure.NoFace, failure.FaceMissing, failure.FaceNotThere, failure.FaceFrameUnused, failure.BoxInvalid, failure.BoxesWithoutFace, failure.SpeedOutOfRange, failure.PreviewAfterEnd, failure.SegmentAfterEnd, failure.FacesOfPicture, failure.TrackMissing, failure.OutputTooWide, failure.OutputRateAbove, failure.CodecNotInstalled, failure.NotSignable, failure.UploadRefused, failure.UploadPrivate, failure.UploadHostMissing, failure.UploadUnreachable, failure.ProcessingTooLong, failure.InternalFault, failure.HostFailing, failure.Canceled,
	} {
		id := fx.add(t, c, "")
		r, err := fx.service.Claim(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		f := failure.Failure{Code: code, Details: failure.Details{Kind: failure.Video}}
		if code == failure.SpeedOutOfRange {
			f.Limit.Speed, f.Value.Speed = order.MostSpeed, 3
		}
		if err := fx.service.Fail(t.Context(), r, f); err != nil {
			t.Fatal(err)
		}
		role := `role="alert"`
		if code == failure.Canceled {
			role = `class="notice" role="status"`
		}
		fx.get(t, "/dashboard/requests/"+id).must(t, http.StatusOK, f.Sentence(), html.EscapeString(order.Advice(code)), role)
		if other[order.Advice(code)] {
			t.Errorf("%s: got the hint of another failure", code)
		}
		other[order.Advice(code)] = true
	}
	id := fx.add(t, c, "")
	fx.fail(t, id, failure.Failure{Code: "of a newer version"})
	fx.get(t, "/dashboard/requests/"+id).must(t, http.StatusOK, "processing failed", order.Advice("of a newer version"), `role="alert"`)
}

func TestCancel(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	c := f.caller(t, account)
	waits, done := f.add(t, c, ""), f.add(t, c, "")
	f.complete(t, done)
	for id, want := range map[string]string{waits: "canceled by the client", done: "Download"} {
		path := "/dashboard/requests/" + id
		for range 2 {
			f.send(t, path+"/cancel", nil).mustLead(t, path)
			f.get(t, path).must(t, http.StatusOK, want)
		}
	}
}

// TestDeleteMedia asks, deletes the media, and says so. It refuses media that another request needs.
func TestDeleteMedia(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	c := f.caller(t, account)
	id := f.add(t, c, "film")
	path := "/dashboard/requests/" + id
	f.get(t, path+"/delete").mustLead(t, path)
	f.send(t, path+"/delete", nil).must(t, http.StatusConflict, "lipsync request is not finished")
	f.complete(t, id)
	f.get(t, path).must(t, http.StatusOK, "data-output", path+"/delete")
	f.get(t, path+"/delete").must(t, http.StatusOK, "Delete the media?", "film", "Keep them")
	f.get(t, path).must(t, http.StatusOK, "data-output") // the question deletes nothing
	for range 2 {
		f.send(t, path+"/delete", nil).mustLead(t, path)
	}
	gone := f.get(t, path)
	gone.must(t, http.StatusOK, "Its media were deleted", "https://example.com/v.mp4")
	for _, text := range []string{"<video", "Download", path + "/delete", "30 days"} {
		if strings.Contains(gone.body, text) {
			t.Errorf("the page still has %s", text)
		}
	}
	f.get(t, path+"/delete").mustLead(t, path)
	f.do(t, http.MethodPost, path+"/delete", nil).must(t, http.StatusForbidden)
}

// TestOthersRequest tries to see, cancel, delete and use the request and media of another account.
func TestOthersRequest(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	other := f.caller(t, "other")
	id := f.add(t, other, "theirs")
	for _, name := range []string{id, "theirs", "unknown"} {
		path := "/dashboard/requests/" + name
		f.get(t, path).must(t, http.StatusNotFound)
		f.send(t, path+"/cancel", nil).must(t, http.StatusNotFound)
		f.get(t, path+"/delete").must(t, http.StatusNotFound)
		f.send(t, path+"/delete", nil).must(t, http.StatusNotFound)
	}
	u, err := f.service.CreateUpload(t.Context(), other, requests.UploadParams{Kind: failure.Video, Size: 5})
	if err != nil {
		t.Fatal(err)
	}
	f.send(t, "/dashboard/new", url.Values{"video": {u.Source}, "audio": {"https://example.com/a.wav"}}).
		must(t, http.StatusBadRequest, "video upload does not exist")
	if r, _, err := f.service.Request(t.Context(), other, id); err != nil || r.Status != lipsync.Queued {
		t.Errorf("got %v, %v, want it queued", r.Status, err)
	}
}

// TestByID checks that pages of requests have only their exact ids as paths.
func TestByID(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	c := f.caller(t, account)
	const free = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	id := f.add(t, c, "ref one")
	f.add(t, c, free)
	for _, name := range []string{"ref%20one", free, strings.ToUpper(id)} {
		path := "/dashboard/requests/" + name
		f.get(t, path).must(t, http.StatusNotFound)
		f.send(t, path+"/cancel", nil).must(t, http.StatusNotFound)
		f.get(t, path+"/delete").must(t, http.StatusNotFound)
		f.send(t, path+"/delete", nil).must(t, http.StatusNotFound)
	}
	if r, _, err := f.service.Request(t.Context(), c, id); err != nil || r.Status != lipsync.Queued {
		t.Errorf("got %v, %v, want it queued", r.Status, err)
	}
}

// TestText gives text that would run as a script, or end its element, for each client's text that a
// page shows.
func TestText(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	for _, evil := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `javascript:alert(1)//`, `{{.CSRF}}`, "</title><script>",
	} {
		c := f.caller(t, account)
		id := f.add(t, c, evil)
		f.fail(t, id, noCodec(evil))
		if _, _, err := f.service.CreateKey(t.Context(), account, evil, 0); err != nil {
			t.Fatal(err)
		}
		keys, _ := f.service.Store.Keys.List(t.Context(), account)
		pages := map[string]answer{
			"list":    f.get(t, "/dashboard?"+url.Values{"reference_id": {evil}}.Encode()),
			"request": f.get(t, "/dashboard/requests/"+id),
			"keys":    f.get(t, "/dashboard/settings/keys"),
			"revoke":  f.get(t, "/dashboard/settings/keys/"+keys[len(keys)-1].ID+"/revoke"),
			"name":    f.send(t, "/dashboard/settings/keys", url.Values{"name": {evil}, "limit": {evil}}),
			"new":     f.send(t, "/dashboard/new", url.Values{"video": {evil}, "audio": {evil}, "reference_id": {evil}, "more_ref": {evil}, "more_audio": {evil}, "segments": {evil}}),
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

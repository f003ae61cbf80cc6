package service_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/store/disk"
	"lipsync/internal/test/check"
)

func TestRequest(t *testing.T) {
	f := newFixture(t)
	_, stranger := f.newCaller(t, "b", 0)
	older := f.generate(t, "ref")
	newer := f.generate(t, "ref")
	named := f.generate(t, older) // its reference id is the id of another
	for _, c := range []struct {
		name, text, want string
		caller           lipsync.Caller
	}{
		{"id", older, older, f.caller},
		{"id in capitals", strings.ToUpper(older), older, f.caller},
		{"newest of a reference", "ref", newer, f.caller},
		{"id by another account", named, "", stranger},
		{"reference by another account", "ref", "", stranger},
		{"unknown", "never", "", f.caller},
		{"empty", "", "", f.caller},
		{"bytes", "\xff", "", f.caller},
		{"very long", strings.Repeat("x", 10_000), "", f.caller},
		{"id without its hyphens", strings.ReplaceAll(older, "-", ""), "", f.caller},
	} {
		got, output, err := f.Request(t.Context(), c.caller, c.text)
		if c.want == "" {
			check.Error(t, c.name, err, failure.NotFound, "lipsync request not found")
			continue
		}
		check.Must(t, err)
		check.Want(t, c.name, got.ID, c.want)
		check.Want(t, c.name+" has an output", output != nil, false)
	}
}

// TestStrangersID reads a request by a reference id that equals the id of another account's
// request.
func TestStrangersID(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	_, f.caller = f.newCaller(t, "b", 0)
	mine := f.generate(t, id)
	got, _, err := f.Request(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, "request", got.ID, mine)
}

// complete works on the request until it is completed.
func (f *fixture) complete(t *testing.T, id string) {
	t.Helper()
	r, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	check.Must(t, f.Complete(t.Context(), r, strings.NewReader("output"), 6))
}

// get fetches a signed URL, and returns its status and body.
func (f *fixture) get(u *url.URL) (int, string) {
	w := httptest.NewRecorder()
	f.Objects.(*disk.Objects).Handler().ServeHTTP(w, httptest.NewRequest("GET", u.String(), nil))
	return w.Code, w.Body.String()
}

func TestOutputURL(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	f.complete(t, id)
	f.clock.Advance(30*24*time.Hour - time.Second)
	check.Must(t, f.Tidy(t.Context(), 0))
	_, output, err := f.Request(t.Context(), f.caller, id)
	check.Must(t, err)

	// A URL that was signed at the last moment is still valid for an hour.
	f.clock.Advance(time.Hour)
	check.Must(t, f.Tidy(t.Context(), 0))
	status, body := f.get(output)
	check.Want(t, "status", status, 200)
	check.Want(t, "body", body, "output")
	_, late, err := f.Request(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, "has an output after 30 days", late != nil, false)

	f.clock.Advance(2 * time.Hour)
	check.Must(t, f.Tidy(t.Context(), 0))
	f.wantEmpty(t)
}

func TestRequestPage(t *testing.T) {
	f := newFixture(t)
	var ids []string
	for _, reference := range []string{"", "ref", "", "ref", ""} {
		ids = append(ids, f.generate(t, reference))
	}
	f.complete(t, ids[3])
	for _, c := range []struct {
		reference string
		offset    int64
		limit     int
		want      []int
		total     int64
	}{
		{"", 0, 2, []int{4, 3}, 5},
		{"", 3, 20, []int{1, 0}, 5},
		{"", 9, 20, nil, 5},
		{"ref", 0, 20, []int{3, 1}, 2},
		{"never", 0, 20, nil, 0},
	} {
		page, err := f.RequestPage(t.Context(), f.caller, service.ListQuery{ReferenceID: c.reference, Offset: c.offset, Limit: c.limit})
		check.Must(t, err)
		check.Want(t, "total", page.Total, c.total)
		check.Want(t, "requests", len(page.Requests), len(c.want))
		check.Want(t, "outputs", len(page.Outputs), len(c.want))
		for i, n := range c.want {
			check.Want(t, "id", page.Requests[i].ID, ids[n])
			check.Want(t, "has an output", page.Outputs[i] != nil, n == 3)
		}
	}
}

// TestVideoURL checks the URLs of videos that the client hosts, that the service stores, and that
// are deleted.
func TestVideoURL(t *testing.T) {
	f := newFixture(t)
	stored := lipsync.Input{Object: "uploads/x"}
	for _, c := range []struct {
		video lipsync.Input
		want  string
	}{
		{lipsync.Input{URL: "https://example.com/v.mp4?a=1"}, "https://example.com/v.mp4?a=1"},
		{stored, "<nil>"},
	} {
		got, err := f.VideoURL(t.Context(), c.video)
		check.Must(t, err)
		check.Want(t, "address", fmt.Sprint(got), c.want)
	}
	check.Must(t, f.Objects.Put(t.Context(), stored.Object, strings.NewReader("video"), -1))
	got, err := f.VideoURL(t.Context(), stored)
	check.Must(t, err)
	check.Want(t, "path", got.Path, disk.Prefix+stored.Object)
}

// TestRequestDetails checks the data of a final request, and when its output expires.
func TestRequestDetails(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "x")
	r, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	r.VideoLength, r.AudioLength, r.Length = 3*time.Second, 2*time.Second, 2*time.Second
	check.Must(t, f.Complete(t.Context(), r, strings.NewReader("output"), 6))
	for _, name := range []string{id, strings.ToUpper(id), "x"} {
		got, err := f.Details(t.Context(), f.caller, name)
		check.Must(t, err)
		check.Want(t, name, fmt.Sprintln(got.ID, got.Attempts, got.Engine, got.VideoLength, got.AudioLength, got.Length), id+" 1 warp 3s 2s 2s\n")
		check.Want(t, "expires", f.OutputExpires(got), f.clock.Now().Add(30*24*time.Hour))
	}
	got, err := f.DeleteMedia(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, "expires without an output", f.OutputExpires(got), time.Time{})
	_, other := f.newCaller(t, "b", 0)
	_, err = f.Details(t.Context(), other, id)
	check.Error(t, "other account", err, failure.NotFound, "lipsync request not found")
}

package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// TestMakeBatch makes batches of several speeches, of CSV and of JSON Lines, and lists that are refused.
func TestMakeBatch(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	const path, video = "/dashboard/batches", "https://example.com/v.mp4"
	made := func(form url.Values) (all []string) {
		t.Helper()
		got := f.send(t, path, form)
		if got.status != http.StatusSeeOther || !strings.HasPrefix(got.header.Get("Location"), path+"/") {
			t.Fatalf("got %d to %q: %s", got.status, got.header.Get("Location"), between(got.body, "data-problem>", "<"))
		}
		b, err := f.service.Batch(t.Context(), lipsync.Caller{Account: account}, filepath.Base(got.header.Get("Location")))
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(b.Lines) {
			r, err := f.service.Details(t.Context(), lipsync.Caller{Account: account}, b.RequestID(n))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, strings.TrimSpace(fmt.Sprint(r.ReferenceID, " ", r.Video.URL, " ", r.Audio.URL, " ", r.Options.Text())))
		}
		return all
	}
	speeches := url.Values{"video": {video}, "speech": {"https://example.com/de.wav", "https://example.com/fr.wav"}, "speech_name": {"de", ""}, "quality": {"low"}, "reference_id": {"x"}}
	for what, c := range map[string]struct {
		form url.Values
		want []string
	}{
		"speeches": {speeches, []string{`de ` + video + ` https://example.com/de.wav {"output":{"quality":"low"}}`, video + ` https://example.com/fr.wav {"output":{"quality":"low"}}`}},
		"CSV": {url.Values{"video": {video}, "original_gain": {"0.5"}, "list": {"audio, reference_id,video,sync_mode\r\nhttps://example.com/1.wav,\"a, b\",,loop\nhttps://example.com/2.wav,,https://example.com/2.mp4,\n"}},
			[]string{`a, b ` + video + ` https://example.com/1.wav {"sync_mode":"loop","original_gain":0.5}`, `https://example.com/2.mp4 https://example.com/2.wav {"original_gain":0.5}`}},
		"JSON Lines": {url.Values{"video": {video}, "list": {`{"audio":"https://example.com/1.wav","reference_id":"one","options":{"silence":"keep"}}` + "\n\n" + `{"audio":"https://example.com/2.wav"}`}},
			[]string{`one ` + video + ` https://example.com/1.wav {"silence":"keep"}`, video + ` https://example.com/2.wav`}},
	} {
		if got := made(c.form); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
	for list, want := range map[string]string{
		"":                                    "a batch has 1 to 1000 lines.",
		"audio":                               "a batch has 1 to 1000 lines.",
		"audio\nx,y":                          "line 1 of the list can&#39;t be read: it needs as many fields as the header.",
		"audio,magic\nx,1":                    "line 1: options has no field &#34;magic&#34;",
		"audio,sync_mode\nx,1":                "line 1: sync_mode must be one of",
		"audio\nhttps://a/b\nx":               "line 2: audio URL must be",
		`{"audio":"x","magic":1}`:             "line 1: it can&#39;t be read.",
		`{"audio":1}`:                         "line 1: it can&#39;t be read.",
		strings.Repeat("{}\n", 1001):          "a batch has 1 to 1000 lines.",
		"audio" + strings.Repeat("\n1", 1001): "a batch has 1 to 1000 lines.",
	} {
		f.send(t, path, url.Values{"video": {video}, "list": {list}}).must(t, http.StatusBadRequest, want)
	}
	f.send(t, path, url.Values{"list": {"audio\nx"}, "segments": {`[{"start":0,"end":1}]`}}).must(t, http.StatusBadRequest, "a request of a batch can&#39;t have segments.")
}

// TestPreview renders a part of the form's request.
func TestPreview(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	form := url.Values{"video": {"https://example.com/v.mp4"}, "audio": {"https://example.com/a.wav"}, "reference_id": {"whole"}, "upload_url": {"https://example.com/put"}, "from": {"3.5"}}
	f.send(t, "/dashboard/previews", form).must(t, http.StatusOK, `"status":"queued"`)
	r := f.made(t)[0]
	if r.Options.Text() != `{"preview":{"start":3.5,"seconds":5}}` || r.ReferenceID != "" {
		t.Errorf("got %s, %q", r.Options.Text(), r.ReferenceID)
	}
	path := "/dashboard/previews/" + r.ID
	f.start(t, r.ID, lipsync.Progress{Stage: order.Rendering, Percent: 40})
	f.get(t, path).must(t, http.StatusOK, `"status":"processing","percent":40}`)
	form.Set("from", "soon")
	f.send(t, "/dashboard/previews", form).must(t, http.StatusBadRequest, `{"error":"preview must be start and seconds`)
	other := f.add(t, f.caller(t, "other"), "")
	f.get(t, "/dashboard/previews/"+other).must(t, http.StatusNotFound, "not found")
	f.add(t, f.caller(t, account), "bad")
	done := f.made(t)[0]
	f.complete(t, done.ID)
	f.get(t, "/dashboard/previews/"+done.ID).must(t, http.StatusOK, `"status":"completed","percent":100,"output":"/objects/`)
}

package dashboard

import (
	"database/sql"
	"html"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
)

// defaults returns the fields of the form as browsers send them if a person changes nothing.
func (f *fixture) defaults(t testing.TB) url.Values {
	t.Helper()
	form := url.Values{"more_ref": make([]string, lipsync.MostTracks-1), "more_audio": make([]string, lipsync.MostTracks-1), "segments": {""}}
	for _, option := range order.OptionsAt(order.OfRequest | order.OfOutput) {
		form.Set(option.Name, option.Text(order.Options{}))
	}
	for _, ticked := range []string{"silence", "duck"} { // a box that isn't ticked sends nothing
		form.Del(ticked)
	}
	page := f.get(t, "/dashboard/new").body
	for name, values := range form {
		if n := strings.Count(page, `name="`+name+`"`); n != len(values) {
			t.Errorf("the form has %d fields %s, want %d", n, name, len(values))
		}
	}
	return form
}

// TestSegments makes a request with segments, shows it, and fills the form again.
func TestSegments(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	form := f.defaults(t)
	form.Set("video", f.upload(t, "video"))
	form.Set("audio", f.upload(t, "audio"))
	form["more_ref"][1], form["more_audio"][1] = " ben <b> ", f.upload(t, "audio")
	form["more_ref"][3], form["more_audio"][3] = "ana", " https://example.com/ana.wav "
	form.Set("segments", ` [{"start": 4, "end": 6.5, "audio": {"ref": "ben <b>", "start": 0.5, "end": 2.5}, "options": {"face": {"id": "3,200,50"}, "voice_gain": 0.5}},
		{"start": 1.25, "end": 3}, {"start": 7, "end": 8, "audio": {"ref": "ana"}}] `)
	const segments = `[{"start":1.25,"end":3},` +
		`{"start":4,"end":6.5,"audio":{"ref":"ben <b>","start":0.5,"end":2.5},"options":{"voice_gain":0.5,"face":{"frame":3,"point":[200,50]}}},` +
		`{"start":7,"end":8,"audio":{"ref":"ana"}}]`
	path := f.send(t, "/dashboard/new", form).header.Get("Location")
	r, _, err := f.service.Request(t.Context(), lipsync.Caller{Account: account}, filepath.Base(path))
	if err != nil || r.Options.Text() != `{"segments":`+segments+`}` {
		t.Fatalf("got %+v, %v, want only the segments %s", r.Options, err, segments)
	}
	if all := r.Audios(); len(all) != 3 || all[0].Ref != "" || all[1].Ref != "ben <b>" || all[1].Name != "audio é.mov" || all[2].Ref != "ana" || all[2].URL != "https://example.com/ana.wav" {
		t.Errorf("got the audios %+v", all)
	}
	f.complete(t, r.ID)
	page := f.get(t, path)
	page.must(t, http.StatusOK, "<h2>Segments</h2>", ">1.25–3 s<", "The one without a name", ">4–6.5 s<", "ben &lt;b&gt;, 0.5–2.5 s", "The one at 200, 50 in frame 3", "Loudness of the speech: 0.5<br>",
		"<dt>Audio</dt>", "<dt>Audio: ben &lt;b&gt;</dt><dd>audio é.mov", "<dt>Audio: ana</dt>", "Frames without a face", "Run again")
	if strings.Contains(page.body, "<dt>When video") || strings.Contains(page.body, "<dt>Faces</dt>") {
		t.Error("the page shows options that have no effect with segments")
	}
	again := f.get(t, "/dashboard/new?again="+r.ID)
	again.must(t, http.StatusOK, `name="more_ref" maxlength="255" autocomplete="off" value="ben &lt;b&gt;"`, `value="https://example.com/ana.wav"`, html.EscapeString(strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(segments)))
	if n := strings.Count(again.body, "audio é.mov, sent before"); n != 2 {
		t.Errorf("got %d audios that were sent before, want 2", n)
	}
}

// TestSegmentsAgain fills the form with requests whose first audio has a name.
func TestSegmentsAgain(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	c := f.caller(t, account)
	web := func(ref string) requests.Track {
		return requests.Track{Ref: ref, Source: requests.Source{URL: "https://example.com/" + ref}}
	}
	value := regexp.MustCompile(`name="(?:audio|more_ref|more_audio)"[^>]* value="([^"]+)"`)
	for segments, want := range map[string]struct {
		more     requests.Track
		values   []string
		segments string
	}{
		`[{"start":0,"end":1,"audio":{"ref":"ana"}},{"start":1,"end":2}]`: {
			web(""), []string{"https://example.com/", "ana", "https://example.com/ana"}, `[{"start":0,"end":1,"audio":{"ref":"ana"}},{"start":1,"end":2}]`},
		`[{"start":0,"end":1,"audio":{"ref":"ana"}},{"start":1,"end":2,"audio":{"ref":"ben"}}]`: {
			web("ben"), []string{"https://example.com/ana", "ben", "https://example.com/ben"}, `[{"start":0,"end":1},{"start":1,"end":2,"audio":{"ref":"ben"}}]`},
	} {
		parsed, err := order.ParseSegments([]byte(segments))
		if err != nil {
			t.Fatal(err)
		}
		id, err := f.service.Generate(t.Context(), c, requests.Params{Video: web("v").Source, Audios: []requests.Track{web("ana"), want.more},
			Segments: parsed})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		page := f.get(t, "/dashboard/new?again="+id)
		for _, found := range value.FindAllStringSubmatch(page.body, -1) {
			got = append(got, found[1])
		}
		if !reflect.DeepEqual(got, want.values) {
			t.Errorf("got the audios %q, want %q", got, want.values)
		}
		page.must(t, http.StatusOK, html.EscapeString(want.segments))
	}
}

// TestLostAudio offers a request again only as long as all its audios can be used.
func TestLostAudio(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	form := url.Values{"video": {"https://example.com/v"}, "audio": {"https://example.com/a"}, "more_ref": {"ben"}, "more_audio": {f.upload(t, "audio")},
		"segments": {`[{"start":0,"end":1},{"start":1,"end":2,"audio":{"ref":"ben"}}]`}}
	path := f.send(t, "/dashboard/new", form).header.Get("Location")
	f.complete(t, filepath.Base(path))
	f.get(t, path).must(t, http.StatusOK, "Run again")
	f.clock.Advance(lipsync.Retention{}.InputLife())
	f.signIn(t)
	f.get(t, path).must(t, http.StatusOK, "Start another request")
	again := f.get(t, "/dashboard/new?again="+filepath.Base(path))
	again.must(t, http.StatusOK, `autocomplete="off" value="ben"`)
	if strings.Contains(again.body, "upload://") || strings.Contains(again.body, "sent before") {
		t.Error("an audio that expired is offered once more")
	}
}

// TestBadSegments sends segments and audios that can't be used. The form keeps them.
func TestBadSegments(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	const one = `[{"start":0,"end":1}]`
	for _, c := range []struct{ segments, ref, audio, more, want string }{
		{"[{", "", "", "", "segments must be a list of 1 to 100 segments."},
		{`[{"start":0,"end":2},{"start":1,"end":3}]`, "", "", "", "segments must not overlap: one ends at 2 seconds, the next begins at 1."},
		{one, "ben", "https://example.com/b", "", "no segment has the audio &#34;ben&#34;."},
		{one, "", "https://example.com/b", "", "two audios have no ref."},
		{"", "ben", "https://example.com/b", "", "audios with ref need segments."},
		{`[{"start":0,"end":1},{"start":1,"end":2,"audio":{"ref":"ben"}}]`, "ben", "ftp://x", "", "audio URL must be"},
		{`[{"start":0,"end":1,"audio":{"ref":"ben"}},{"start":1,"end":2}]`, "", "", "", "segment has the audio &#34;ben&#34;; there is: one without ref."},
		{one, "", "", "sync_mode=loop", "with segments the options of the whole request can be: no_face, preview, mask"},
		{one, "", "", "largest_face=on", "segments can&#39;t be used with disable_active_speaker_detection."},
	} {
		form := f.defaults(t)
		more, err := url.ParseQuery(c.more)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(form, more)
		form["more_ref"][0], form["more_audio"][0] = c.ref, c.audio
		form.Set("segments", c.segments)
		form.Set("video", "https://example.com/v")
		form.Set("audio", "https://example.com/a")
		page := f.send(t, "/dashboard/new", form)
		page.must(t, http.StatusBadRequest, c.want, ">"+html.EscapeString(c.segments)+"</textarea>", `value="`+c.ref+`"`, `value="`+c.audio+`"`)
		if n := strings.Count(page.body, `name="more_audio"`); n != lipsync.MostTracks-1 {
			t.Errorf("%s: got %d fields for further audios, want %d", c.want, n, lipsync.MostTracks-1)
		}
	}
}

// TestNewerSegments shows a request whose segments a newer version of the program has written.
func TestNewerSegments(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	id := f.add(t, f.caller(t, account), "order-1")
	db, err := sql.Open("sqlite", f.database)
	if err == nil {
		defer db.Close()
		_, err = db.ExecContext(t.Context(), `UPDATE requests SET options = '{"segments":[{"start":0,"end":1,"speed":2}]}' WHERE id = ?`, id)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.get(t, "/dashboard/requests/"+id).must(t, http.StatusOK, "order-1", "https://example.com/a.wav")
	f.Close() // a call is logged after it was answered
	if said := f.log.String(); !strings.Contains(said, "segments of a request") {
		t.Errorf("the log doesn't say that the segments can't be read: %s", said)
	}
}

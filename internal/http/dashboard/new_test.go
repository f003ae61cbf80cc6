package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
)

// TestNewOptions checks that the form offers each value of each option once.
func TestNewOptions(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	page := f.get(t, "/dashboard/new").body
	offered := map[string]int{"sync_mode": 5, "no_face": 2, "format": 3, "codec": 5, "quality": 4}
	for name, want := range offered {
		values := regexp.MustCompile(`value="(\w*)"`).FindAllStringSubmatch(between(page, `<select name="`+name+`">`, "</select>"), -1)
		seen := map[string]bool{}
		for _, value := range values {
			var o order.Order
			if err := readOptions(url.Values{name: value[1:]}, &o); err != nil {
				t.Error(err)
			}
			seen[fmt.Sprintf("%+v", o)] = true
		}
		if len(values) != want || len(seen) != want {
			t.Errorf("%s: the form has %q, want %d values", name, values, want)
		}
	}
	for name, value := range map[string]string{"voice_gain": "1", "original_gain": "0", "mask": "1,1", "fps": "source", "width": "", "file_name": "", "upload_url": ""} {
		if input := between(page, `<input name="`+name+`"`, ">"); !strings.Contains(input, `value="`+value+`"`) {
			t.Errorf("%s: got %q, want the default %s", name, input, value)
		}
	}
	f.send(t, "/dashboard/new", url.Values{"preview": {"5"}}).must(t, http.StatusBadRequest, "preview must be start and seconds")
	f.send(t, "/dashboard/new", url.Values{"mask": {"1,9"}}).must(t, http.StatusBadRequest, "mask must be feather, a number from 0.25 to 2")
	f.send(t, "/dashboard/new", url.Values{"face": {"me"}}).must(t, http.StatusBadRequest, "face must be auto, ")
	f.send(t, "/dashboard/new", url.Values{"width": {"5"}}).must(t, http.StatusBadRequest, "width must be a whole number from 16 to 4096.")
	f.send(t, "/dashboard/new", url.Values{"format": {"webm"}, "codec": {"hevc"}, "fps": {"23.976"}, "file_name": {"a <b>"}, "upload_url": {"https://a/b?c"}}).must(t, http.StatusBadRequest,
		"codec must be one of those of format webm: vp9.", `value="webm" selected`, `value="hevc" selected`, `value="23.976"`, `value="a &lt;b&gt;"`, `value="https://a/b?c"`)
	f.send(t, "/dashboard/new", url.Values{"upload_url": {"ftp://a/b"}}).must(t, http.StatusBadRequest, "upload_url must be an absolute http or https URL")
	f.send(t, "/dashboard/new", url.Values{"voice_gain": {"3"}}).must(t, http.StatusBadRequest, "voice_gain must be a number from 0 to 2.")
	f.send(t, "/dashboard/new", url.Values{"sync_mode": {"magic"}}).must(t, http.StatusBadRequest,
		"sync_mode must be one of: bounce, loop, cut_off, silence, remap.")
}

// TestNew sends two files as the script does, and then the form that names them.
func TestNew(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	form := url.Values{
		"reference_id": {" order 1 "}, "model": {"wav2lip"}, "largest_face": {"on"},
		"sync_mode": {"remap"}, "silence": {"keep"}, "no_face": {""}, "voice_gain": {"1.5"}, "original_gain": {"0.25"}, "duck": {"true"}, "preview": {"1.5, 2"}, "mask": {"0.5, 1.2"},
		"format": {"mov"}, "codec": {"h264"}, "quality": {"medium"}, "fps": {"29.97"}, "width": {"640"}, "file_name": {""}, "upload_url": {"https://storage.example/secret?signature=secret"},
	}
	options := order.Options{SyncMode: order.Remap, Silence: order.KeepSilent, VoiceGain: .5, OriginalGain: .25, Duck: true,
		Preview: order.Preview{Start: 1500 * time.Millisecond, Length: 2 * time.Second}, Mask: order.Mask{Feather: -500, Expand: 200},
		Output: order.Output{Format: order.MOV, Quality: order.Medium, FPS: 29970, Width: 640, UploadURL: "https://storage.example/secret?signature=secret"}}
	for _, kind := range []string{"video", "audio"} {
		form.Set(kind, f.upload(t, kind))
	}
	made := f.send(t, "/dashboard/new", form)
	path := made.header.Get("Location")
	made.mustLead(t, path)
	r, _, err := f.service.Request(t.Context(), lipsync.Caller{Account: account}, "order 1")
	if err != nil || path != "/dashboard/requests/"+r.ID || r.Engine != "wav2lip" || !r.LargestFace || !reflect.DeepEqual(r.Options, options) || r.KeyID != "" {
		t.Errorf("got %s and %+v, %v", path, r, err)
	}
	f.get(t, path).must(t, http.StatusOK, "video é.mov", "audio é.mov", "/objects/uploads/", `preload="metadata" aria-label="Source video"`)
	f.get(t, path).must(t, http.StatusOK, "<dt>Region around the mouth: width of the edge, size</dt><dd>0.5,1.2</dd>", "<dt>Format</dt><dd>MOV</dd>", "<dt>Quality</dt><dd>Medium</dd>", "<dt>Frames a second</dt><dd>29.97</dd>", "<dt>Width in pixels</dt><dd>640</dd>", "<dt>Also send it to (PUT)</dt><dd>https://storage.example</dd>")
	if page := f.get(t, path).body; strings.Contains(page, "secret") || strings.Contains(page, "<dt>Codec") || strings.Contains(page, "<dt>File name") {
		t.Error("the page shows defaults of the output, or the secret")
	}
	f.get(t, "/dashboard").must(t, http.StatusOK, "video é.mov with audio é.mov")
	f.complete(t, r.ID)
	f.get(t, path).must(t, http.StatusOK, `aria-label="Source video" data-source="1.5"`)
	_, output, err := f.service.Request(t.Context(), lipsync.Caller{Account: account}, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	saved := f.get(t, output.String()).header.Get("Content-Disposition")
	if _, as, err := mime.ParseMediaType(saved); err != nil || as["filename"] != "video é-lipsync.mov" {
		t.Errorf("the output is saved as %q (%v), want a name after the video's", saved, err)
	}
	f.get(t, path).must(t, http.StatusOK, "/dashboard/new?again="+r.ID)
	again := f.get(t, "/dashboard/new?again="+r.ID)
	again.must(t, http.StatusOK, r.Video.Again(), r.Audio.Again(), "video é.mov, sent before", `value="order 1"`, "<option selected>wav2lip", `name="largest_face" checked`,
		`<option value="remap" selected>`, `<option value="mov" selected>`, `name="fps" autocomplete="off" value="29.97"`, `name="silence" value="keep" checked`, `<option value="keep" selected>They`)
	if strings.Contains(again.body, "storage.example") {
		t.Error("the form has the URL that was signed for another output")
	}
	chosen := url.Values{"video": {r.Video.Again()}, "audio": {r.Audio.Again()}, "face": {"120, 640, 360"}}
	f.get(t, f.send(t, "/dashboard/new", chosen).header.Get("Location")).must(t, http.StatusOK, "120,640,360")
	chosen.Set("largest_face", "on")
	f.send(t, "/dashboard/new", chosen).must(t, http.StatusBadRequest, "face can&#39;t be chosen with disable_active_speaker_detection", "video é.mov, sent before", `data-stored="`)
	f.get(t, "/dashboard/new?again=none").must(t, http.StatusNotFound)
	f.clock.Advance(lipsync.Retention{}.InputLife())
	f.signIn(t)
	late, refilled := f.get(t, path), f.get(t, "/dashboard/new?again="+r.ID)
	late.must(t, http.StatusOK, `href="/dashboard/new">Start another request`)
	refilled.must(t, http.StatusOK, `value="order 1"`)
	if strings.Contains(late.body, "Run again") || strings.Contains(refilled.body, "upload://") || strings.Contains(refilled.body, "video é.mov") {
		t.Error("inputs that expired are offered once more")
	}
	if err := f.service.Objects.Delete(t.Context(), r.Video.Object); err != nil {
		t.Fatal(err)
	}
	f.get(t, path).must(t, http.StatusOK, "The original is no longer kept.")
}

// TestAnalyses makes an analysis as the script does, and reads that of another account.
func TestAnalyses(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	f.send(t, "/dashboard/analyses", url.Values{"video": {"x"}}).must(t, http.StatusBadRequest, `{"error":"video URL must be`)
	made := f.send(t, "/dashboard/analyses", url.Values{"video": {" https://example.com/v "}})
	made.must(t, http.StatusOK, `"status":"queued"`)
	var a analysis
	if err := json.Unmarshal([]byte(made.body), &a); err != nil {
		t.Fatal(err)
	}
	f.get(t, "/dashboard/analyses/"+a.ID).must(t, http.StatusOK, `{"id":"`+a.ID+`","status":"queued","percent":0}`)
	f.get(t, "/dashboard").must(t, http.StatusOK, "No requests yet")
	other, err := f.service.Analyze(t.Context(), lipsync.Caller{Account: "other"}, requests.Source{URL: "https://example.com/v"})
	if err != nil {
		t.Fatal(err)
	}
	f.get(t, "/dashboard/analyses/"+other).must(t, http.StatusNotFound, `{"error":"analysis not found"}`)
	f.service.GenerateRate = 1
	f.send(t, "/dashboard/analyses", url.Values{"video": {"https://example.com/v"}}).must(t, http.StatusTooManyRequests, `{"error":`)
}

func (f *fixture) upload(t testing.TB, kind string) (source string) {
	t.Helper()
	return f.uploadOf(t, kind, kind+" é.mov", []byte("bytes"))
}

// uploadOf sends a file as the dashboard's script does, and returns the value of the field for its kind.
func (f *fixture) uploadOf(t testing.TB, kind, name string, content []byte) (source string) {
	t.Helper()
	announced := f.send(t, "/dashboard/uploads", url.Values{"type": {kind}, "size": {strconv.Itoa(len(content))}, "name": {name}})
	announced.must(t, http.StatusOK)
	var to upload
	if err := json.Unmarshal([]byte(announced.body), &to); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, f.URL+to.Address, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	response, err := f.browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("upload: got %s", response.Status)
	}
	return to.Source
}

func TestBadNew(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	const address = "https://example.com/x"
	for _, c := range []struct{ video, audio, more, want string }{
		{"", address, "", "video URL must be"},
		{address, "ftp://example.com", "", "audio URL must be"},
		{address, "upload://x", "", "audio upload does not exist"},
		{address, address, "model=magic", "model must be one of: warp, wav2lip"},
		{address, address, "reference_id=" + strings.Repeat("x", 256), "reference_id must be"},
	} {
		form, err := url.ParseQuery(c.more)
		if err != nil {
			t.Fatal(err)
		}
		form.Set("video", c.video)
		form.Set("audio", c.audio)
		f.send(t, "/dashboard/new", form).must(t, http.StatusBadRequest, c.want, `value="`+c.video+`"`)
	}
	for form, want := range map[string]int{"type=video&size=x": http.StatusBadRequest, "type=film&size=5": http.StatusBadRequest,
		"type=audio&size=600000000": http.StatusRequestEntityTooLarge} {
		values, err := url.ParseQuery(form)
		if err != nil {
			t.Fatal(err)
		}
		f.send(t, "/dashboard/uploads", values).must(t, want, `{"error":`)
	}
}

// TestTwice sends a form twice, as a double click does without scripts. Then it sends the form with a
// change, and the form of a page that was loaded again.
func TestTwice(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	once := regexp.MustCompile(`name="once" value="([^"]+)"`)
	send := func(mark, reference string) string {
		made := f.send(t, "/dashboard/new", url.Values{"video": {"https://example.com/v"}, "audio": {"https://example.com/a"}, "once": {mark}, "reference_id": {reference}})
		made.must(t, http.StatusSeeOther)
		return made.header.Get("Location")
	}
	var marks [2]string
	for i := range marks {
		marks[i] = once.FindStringSubmatch(f.get(t, "/dashboard/new").body)[1]
	}
	first := send(marks[0], "a")
	if again := send(marks[0], "a"); again != first {
		t.Errorf("sent twice, it leads to %s and %s", first, again)
	}
	changed, other := send(marks[0], "b"), send(marks[1], "a")
	if changed == first || other == first || changed == other {
		t.Errorf("got %s, %s and %s, want three requests", first, changed, other)
	}
}

// TestRates makes as many requests as are allowed in a minute.
func TestRates(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	f.service.GenerateRate = 2
	form := url.Values{"video": {"https://example.com/v"}, "audio": {"https://example.com/a"}}
	for _, want := range []int{http.StatusSeeOther, http.StatusSeeOther, http.StatusTooManyRequests} {
		f.send(t, "/dashboard/new", form).must(t, want)
	}
	f.service.ReadRate = 1
	page, script := f.send(t, "/dashboard/new", form), answer{}
	for range 2 {
		script = f.send(t, "/dashboard/uploads", url.Values{"type": {"video"}, "size": {"5"}})
	}
	for _, late := range []answer{page, script} {
		if late.must(t, http.StatusTooManyRequests); late.header.Get("Retry-After") != "60" {
			t.Errorf("got Retry-After %q, want 60", late.header.Get("Retry-After"))
		}
	}
}

// broken is a store whose uploads fail.
type broken struct{ lipsync.Uploads }

func (broken) Create(context.Context, lipsync.Upload, lipsync.Limits) error {
	return errors.New("the disk is full")
}

// TestBrokenUpload checks that the log says why a file can't be uploaded, and that the person sees no
// reason.
func TestBrokenUpload(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	f.service.Store.Uploads = broken{f.service.Store.Uploads}
	got := f.send(t, "/dashboard/uploads", url.Values{"type": {"video"}, "size": {"5"}})
	got.must(t, http.StatusInternalServerError, `{"error":`)
	f.Close() // a call is logged after it was answered
	if said := f.log.String(); strings.Contains(got.body, "disk") || !strings.Contains(said, "level=ERROR") || !strings.Contains(said, "the disk is full") {
		t.Errorf("answered %s, logged %s", got.body, said)
	}
}

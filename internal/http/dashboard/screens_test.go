package dashboard

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/http/signin"
	"lipsync/internal/test/browsertest"
	"lipsync/internal/test/ffmpegtest"
)

var screens = flag.String("screens", "", "folder to write pictures of all pages to")

// TestScreens looks at all pages in both schemes of colours and in both widths, each once.
func TestScreens(t *testing.T) {
	lookAtAll(t, browsertest.Window{Width: 390, Scheme: "light"}, browsertest.Window{Width: 1280, Scheme: "dark"})
}

// TestScreens_long looks at them in the other pairs of width and scheme.
func TestScreens_long(t *testing.T) {
	lookAtAll(t, browsertest.Window{Width: 390, Scheme: "dark"}, browsertest.Window{Width: 1280, Scheme: "light"})
}

// lookAtAll opens all pages of a service without requests, and of one with many. It takes pictures of
// them for people, and checks that no page is wider than its window or too large. If LIPSYNC_AXE is
// the path of axe-core's script, that checks that people with disabilities can use the pages.
func lookAtAll(t *testing.T, windows ...browsertest.Window) {
	t.Helper()
	empty, full, strange := newFixture(t), newFixture(t), newFixture(t)
	stage, elsewhere := newStage(t)
	elsewhere.err = &failure.Error{Code: failure.Unauthorized, Message: "The sign-in was not completed."}
	played := full.play(t)
	paths := full.seed(t)
	paths["completed"] = played
	a := album{t: t, b: browsertest.New(t)}
	for _, a.Window = range windows {
		a.b.Look(a.Width, a.Scheme)
		a.b.Open(strange.URL + "/dashboard/sign-in?token=x")
		a.look("sign-in")
		a.b.Open(stage.URL + "/api/dashboard/sign-in?name=x")
		a.look("provider-refused")
		a.b.Open(stage.URL + "/api/dashboard/signed-out")
		a.look("provider-signed-out")
		a.b.Open(empty.URL + empty.newLink(t))
		a.look("sign-in-link")
		a.b.SignIn(empty.URL+empty.newLink(t), "Requests")
		for _, path := range everyPage {
			if !ofAPI(path) { // those show no records
				a.b.Open(empty.URL + path)
				a.look("empty-" + filepath.Base(path))
			}
		}
		a.b.SignIn(full.URL+full.newLink(t), "Requests")
		for _, path := range everyPage {
			if ofAPI(path) {
				paths["api-"+filepath.Base(path)] = path
			}
		}
		for name, path := range paths {
			a.b.Open(full.URL + path)
			a.look(name)
		}
		a.lookAtForms(full.URL)
	}
}

// ofAPI tells whether a page is about the API.
func ofAPI(path string) bool { return strings.HasPrefix(path, "/dashboard/api/") }

// album takes pictures of pages in one width and scheme of colours.
type album struct {
	t *testing.T
	b *browsertest.Browser
	browsertest.Window
}

// look checks the open page, and takes its picture.
func (a album) look(name string) {
	a.t.Helper()
	if got := weigh(a.b); got.Bytes == 0 || got.Bytes > 60_000 || got.Styles != 1 || got.Scripts != 1 || got.Fonts > 1 {
		a.t.Errorf("%s in %+v: got %+v, want at most 60,000 bytes without the font, one style sheet, one script and one font", name, a.Window, got)
	}
	a.b.Inspect(name, a.Window, *screens)
}

// lookAtForms checks the pages that answer forms.
func (a album) lookAtForms(address string) {
	a.t.Helper()
	a.b.Open(address + "/dashboard/settings/keys")
	a.b.Do(chromedp.SendKeys("input[name=name]", "new\n"))
	a.b.Wait(`document.getElementById("token")`)
	a.look("new-key")
	a.b.Open(address + "/dashboard/webhooks")
	a.b.Do(chromedp.SendKeys("input[name=url]", fmt.Sprintf("https://example.com/%d-%s\n", a.Width, a.Scheme)))
	a.b.Wait(`document.getElementById("secret")`)
	a.look("new-webhook")
	a.b.Open(address + "/dashboard/new")
	a.b.Do(chromedp.Click(".panel summary"), chromedp.Click("[data-start]"))
	a.b.Wait(`document.querySelector("[data-problem]").textContent`)
	a.look("new-problem")
	a.b.Do(chromedp.SetUploadFiles("[data-drop=video] [data-file]", []string{newFile(a.t)}))
	a.b.Wait(`document.querySelector(".chosen")`)
	a.look("new-chosen")
}

// weight has the size of all files that a page loads, as they come over the network, except for the font, media and calls of its scripts.
type weight struct{ Bytes, Styles, Scripts, Fonts int }

func weigh(b *browsertest.Browser) weight {
	return browsertest.Eval[weight](b, `(() => {
		const page = performance.getEntriesByType("navigation")[0];
		const loaded = performance.getEntriesByType("resource").filter((r) => !["video", "img", "fetch", "xmlhttprequest"].includes(r.initiatorType));
		const count = (end) => loaded.filter((r) => r.name.endsWith(end)).length;
		const light = loaded.filter((r) => !r.name.endsWith(".woff2"));
		return { Bytes: [page, ...light].reduce((sum, r) => sum + r.encodedBodySize, 0), Styles: count(".css"), Scripts: count(".js"), Fonts: new Set(loaded.filter((r) => r.name.endsWith(".woff2")).map((r) => r.name)).size };
	})()`)
}

// seed makes records of each kind, and returns the pages by name.
func (f *fixture) seed(t testing.TB) map[string]string {
	t.Helper()
	c := f.caller(t, account)
	pages := map[string]string{"signed-out": "/dashboard/signed-out", "missing": "/dashboard/x"}
	poster := newPoster(t)
	long := strings.Repeat("wide", 60)
	if _, _, err := f.service.CreateKey(t.Context(), account, long, 0); err != nil {
		t.Fatal(err)
	}
	pages["long"], pages["long-list"] = "/dashboard/requests/"+f.add(t, c, long), "/dashboard?reference_id="+long
	for i := range 40 {
		f.clock.Advance([]time.Duration{7 * time.Minute, 95 * time.Minute, 31 * time.Hour}[i%3])
		id := f.add(t, c, []string{"", "spring-campaign/hero-de", "order-" + fmt.Sprint(1200+i)}[i%3])
		switch {
		case i%9 == 4:
			f.fail(t, id, failure.Failure{Code: failure.MediaNotAccessible, Details: failure.Details{Kind: failure.Video}})
			pages["failed"] = "/dashboard/requests/" + id
		case i == 35:
			f.complete(t, id)
			pages["delete"] = "/dashboard/requests/" + id + "/delete"
		case i == 36:
			f.complete(t, id)
			if _, err := f.service.DeleteMedia(t.Context(), c, id); err != nil {
				t.Fatal(err)
			}
			pages["deleted"] = "/dashboard/requests/" + id
		case i == 39:
			f.start(t, id, lipsync.Progress{Stage: order.Rendering, Percent: 62, Ends: f.clock.Now().Add(41 * time.Second)})
			pages["processing"] = "/dashboard/requests/" + id
		case i == 38:
			pages["queued"] = "/dashboard/requests/" + id
		case i%2 == 0:
			f.output(t, id, []byte("no video"), poster)
		default:
			f.complete(t, id) // without a poster
		}
	}
	for name, role := range map[string]signin.Role{"Ana": signin.Member, "Ben": signin.Owner} {
		if _, err := f.folder.Invite(signin.Person{Account: account, Name: name, Role: role}); err != nil {
			t.Fatal(err)
		}
	}
	_, k, err := f.service.CreateKey(t.Context(), account, "Website, production", 500)
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"requests": "/dashboard", "filtered": "/dashboard?status=failed", "none": "/dashboard?reference_id=nothing", "new": "/dashboard/new",
		"usage": "/dashboard/usage", "api": "/dashboard/api", "keys": "/dashboard/settings/keys", "people": "/dashboard/settings/people",
		"revoke": "/dashboard/settings/keys/" + k.ID + "/revoke",
	} {
		pages[name] = path
	}
	maps.Copy(pages, f.seedWebhooks(t, c))
	maps.Copy(pages, f.seedBatches(t, c))
	return pages
}

// play makes a completed request with a video that browsers can play, and returns its page.
func (f *fixture) play(t *testing.T) string {
	t.Helper()
	c := f.caller(t, account)
	clip := newClip(t)
	u, err := f.service.CreateUpload(t.Context(), c, requests.UploadParams{Kind: failure.Video, Size: int64(len(clip))})
	if err == nil {
		err = f.service.Objects.Put(t.Context(), u.Object, bytes.NewReader(clip), u.Size)
	}
	if err != nil {
		t.Fatal(err)
	}
	id, err := f.service.Generate(t.Context(), c, requests.Params{
		Video: requests.Source{URL: u.Source}, Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/a.wav"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.output(t, id, clip, newPoster(t))
	return "/dashboard/requests/" + id
}

// newClip makes a video of a second that browsers can play.
func newClip(t *testing.T) []byte {
	t.Helper()
	clip, err := os.ReadFile(ffmpegtest.Make(t, "clip.mp4", "-f", "lavfi", "-i", "testsrc2=s=320x180:d=1", "-pix_fmt", "yuv420p"))
	if err != nil {
		t.Fatal(err)
	}
	return clip
}

// newPoster makes a poster as a worker does.
func newPoster(t testing.TB) []byte {
	t.Helper()
	jpeg, err := os.ReadFile(ffmpegtest.Make(t, "poster.jpg", "-f", "lavfi", "-i", "testsrc2=s=480x270", "-frames:v", "1"))
	if err != nil {
		t.Fatal(err)
	}
	return jpeg
}

// start claims a request and reports its progress.
func (f *fixture) start(t testing.TB, id string, p lipsync.Progress) lipsync.Request {
	t.Helper()
	r, err := f.service.Claim(t.Context(), id)
	if err == nil {
		err = f.service.Report(t.Context(), r, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// complete completes a request, as a worker does.
func (f *fixture) complete(t testing.TB, id string) {
	t.Helper()
	f.output(t, id, []byte("no video"), nil)
}

// output completes a request with an output, and with a poster if that is not nil.
func (f *fixture) output(t testing.TB, id string, output, poster []byte) {
	t.Helper()
	r := f.start(t, id, lipsync.Progress{})
	_, total, err := f.service.Store.Requests.List(t.Context(), r.Account, "", 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	r.Length = 12*time.Second + time.Duration(total)*700*time.Millisecond
	r.Frames, r.Unsynced = order.Frames{Total: 325, Synced: 300}, order.Unsynced{Gaps: []order.Gap{{Start: 6, End: 7, Reason: order.TurnedAway}}}
	r.Sync = order.SyncScore{Closures: order.Part{All: 9, Good: 8, Missed: []float64{3.2}}, Spoken: order.Part{All: 300, Good: 275}, Curve: "9999999766666799999-63000369999999--999999999999999"}
	f.clock.Advance(23 * time.Second)
	if poster != nil {
		if err := f.service.StorePoster(t.Context(), &r, poster); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.service.Complete(t.Context(), r, bytes.NewReader(output), -1); err != nil {
		t.Fatal(err)
	}
}

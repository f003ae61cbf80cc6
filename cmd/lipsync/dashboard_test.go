package main

import (
	"bufio"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/sys/unix"

	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/internal/test/browsertest"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/sharedtest"
)

// link returns a link that signs in to the server's dashboard.
func (s *server) link(t *testing.T) string {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if out, _, code := command(t, "dashboard", "--data", s.data); code == ok {
			return strings.TrimPrefix(strings.TrimSpace(out), "dashboard: ")
		}
	}
	t.Fatalf("no link was printed: %q", s.log.with(""))
	return ""
}

// TestLinkOnlyOnTerminal starts a server whose messages go to a log, and one whose messages go to a
// terminal. The log must not have a link, since its readers must not be able to sign in.
func TestLinkOnlyOnTerminal(t *testing.T) {
	s := startServer(t, t.TempDir())
	s.link(t)
	hint := "dashboard=" + s.url + `/dashboard to_sign_in="lipsync dashboard --data `
	if said, hints := s.log.with("token"), s.log.with(hint); len(said) > 0 || len(hints) != 1 {
		t.Errorf("log: got %q, want no link and a line %q", s.log.with(""), hint)
	}

	terminal, program := openTerminal(t)
	serve := exec.Command(fixtures.program, "serve", "--data", t.TempDir(), "--addr", "127.0.0.1:0")
	serve.Stderr = program
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	defer func() { _ = serve.Process.Kill(); _ = serve.Wait() }()
	for lines := bufio.NewScanner(terminal); lines.Scan(); {
		if strings.Contains(lines.Text(), "/dashboard/sign-in?token=") {
			return
		}
	}
	t.Error("terminal: no link was printed")
}

// openTerminal returns both ends of a new terminal: that of the person, whose reads end after a
// minute, and that of the program.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	fd := int(person.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(time.Minute, func() { person.Close() })
	return person, program
}

func status(t *testing.T, address string) int {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// TestDashboardCommand checks that lipsync dashboard prints a link while a server runs, and an error
// if no server runs.
func TestDashboardCommand(t *testing.T) {
	data := t.TempDir()
	ask := func() (string, string, int) { return command(t, "dashboard", "--data", data) }
	if _, said, code := ask(); code != failed || !strings.Contains(said, "start one with lipsync serve") {
		t.Errorf("before: got status %d, %q", code, said)
	}
	s := startServer(t, data)
	out, said, code := ask()
	link, printed := strings.CutPrefix(strings.TrimSpace(out), "dashboard: ")
	if code != ok || said != "" || !printed || !strings.HasPrefix(link, s.url+"/dashboard/sign-in?token=") {
		t.Fatalf("got %q, %q, status %d, want a link", out, said, code)
	}
	for _, address := range []string{link, s.link(t), link} { // to open it doesn't use it up
		if got := status(t, address); got != http.StatusOK {
			t.Errorf("%s: got %d", address, got)
		}
	}
	if err := s.stop(t); err != nil {
		t.Fatal(err)
	}
	if _, said, code := ask(); code != failed || !strings.Contains(said, "start one with lipsync serve") {
		t.Errorf("after: got status %d, %q", code, said)
	}
}

// TestDashboardOfAnother calls lipsync dashboard for a folder whose server was killed or is starting,
// while the server of another folder has its port.
func TestDashboardOfAnother(t *testing.T) {
	data := t.TempDir()
	killed := startServer(t, data)
	killed.link(t) // then the address file exists
	killed.kill()
	startServer(t, t.TempDir(), "--addr", strings.TrimPrefix(killed.url, "http://"))
	want := func(when string) {
		t.Helper()
		if out, said, code := command(t, "dashboard", "--data", data); code != failed || out != "" || !strings.Contains(said, "no server uses") {
			t.Errorf("%s: got %q, %q, status %d, want no link", when, out, said, code)
		}
	}
	want("killed")
	unlock, err := datafolder.Lock(data)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	want("starting")
}

// TestLockLookedAt locks a folder while another process checks whether the folder is locked.
func TestLockLookedAt(t *testing.T) {
	dir := t.TempDir()
	look, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer look.Close()
	if err := unix.Flock(int(look.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		time.AfterFunc(15*time.Millisecond, func() { look.Close() })
		unlock, err := datafolder.Lock(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := unlock(); err != nil {
			t.Error(err)
		}
	})
}

// TestDashboardAddress checks that a browser can open the links, at all addresses at which a server
// can listen.
func TestDashboardAddress(t *testing.T) {
	everywhere := startServer(t, t.TempDir(), "--addr", "0.0.0.0:0")
	_, port, _ := strings.Cut(everywhere.url, "://")
	port = port[strings.LastIndex(port, ":"):]
	proxied := startServer(t, t.TempDir(), "--public-url", "https://lips.example.com/")
	for s, want := range map[*server]string{everywhere: "http://localhost" + port, proxied: "https://lips.example.com"} {
		if got := s.link(t); !strings.HasPrefix(got, want+"/dashboard/sign-in?token=") {
			t.Errorf("got %s, want it at %s", got, want)
		}
		if out, said, code := command(t, "dashboard", "--data", s.data); code != ok || !strings.HasPrefix(out, "dashboard: "+want+"/") {
			t.Errorf("dashboard: got %q, %q, status %d, want a link at %s", out, said, code, want)
		}
	}
}

// TestDashboardKeys signs in, makes a key, calls the API with it, also by a sample with files of its own, and revokes it.
func TestDashboardKeys(t *testing.T) {
	s := startServer(t, t.TempDir())
	b := browsertest.New(t)
	link := s.link(t)
	b.SignIn(link, "Requests")
	if got := browsertest.Eval[string](b, "location.search"); got != "" {
		t.Errorf("the link leads to an address with %s, want no token in it", got)
	}
	if got := status(t, link); got != http.StatusForbidden {
		t.Errorf("second use of the link: got %d, want 403", got)
	}
	b.Open(s.url + "/dashboard/settings/keys")
	b.Do(chromedp.SendKeys("input[name=name]", "From the browser\n"))
	b.Wait(`document.getElementById("token")`)
	token := browsertest.Eval[string](b, `document.getElementById("token").textContent`)
	call := browsertest.Eval[string](b, `document.getElementById("curl").textContent`)
	out, err := exec.Command("sh", "-c", strings.Replace(call, "curl", "curl -s", 1)).Output()
	if want := `{"name":"From the browser"}`; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("curl: got %s, %v, want %s", out, err, want)
	}
	b.Open(s.url + "/dashboard/api/lip-sync")
	const form = "form.run[data-path$=generate-with-media]"
	b.Do(chromedp.SendKeys("[data-key]", token), chromedp.SetUploadFiles(form+" [name=video]", []string{fixtures.video}),
		chromedp.SetUploadFiles(form+" [name=audio]", []string{fixtures.speech}), chromedp.Click(form+" button"))
	b.WaitText(form+" pre", `"status": "success"`)
	b.Open(s.url + "/dashboard/settings/keys")
	b.Wait(`!document.getElementById("token")`)
	b.Do(chromedp.Click("a.danger"))
	b.WaitText(".lead", "From the browser")
	b.Do(chromedp.Click("button.danger"))
	b.Wait(`document.querySelector(".over")`)
	err = testClient{s.url, token}.call(t.Context(), http.MethodGet, "/api/v1/users/me", "", nil, new(struct{}))
	if err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("after it was revoked: got %v, want 401", err)
	}
	if said := s.log.with(token); len(said) > 0 {
		t.Errorf("the key is in the log: %q", said)
	}
	b.Do(chromedp.Click(".me summary"), chromedp.Click(".me button"))
	b.WaitText("h1", "Sign in")
}

// TestDashboardSync sends two files by the browser, and plays the output to its end. The form to run it again shows the video at once.
func TestDashboardSync(t *testing.T) {
	s := startServer(t, t.TempDir())
	b := browsertest.New(t)
	b.SignIn(s.link(t), "Requests")
	s.syncInBrowser(b, fixtures.video, fixtures.speech, "first")
	played := browsertest.Eval[float64](b, `new Promise((done) => {
		const output = document.querySelector("[data-output]");
		output.onended = () => done(output.currentTime);
		output.muted = true;
		output.play();
	})`)
	if played < 0.5 {
		t.Errorf("played %.2f s of the output, want 0.6 s", played)
	}
	b.Wait(`document.querySelector("[data-source]").currentTime >= 0.4`) // on a busy machine the source lags
	b.Open(s.url + "/dashboard?reference_id=first&status=completed")
	if rows := browsertest.Eval[int](b, `document.querySelectorAll(".rows tbody tr").length`); rows != 1 {
		t.Errorf("got %d requests in the list, want 1", rows)
	}
	b.Do(chromedp.Click(".rows .name a"))
	b.WaitText("h1", "first")
	b.Do(chromedp.Click("a[href*='again=']"))
	b.Wait(`document.querySelector(".screen video")?.videoWidth > 0 && /^[\d.]+ s$/.test(document.querySelector("[data-length]").textContent)`)
}

// TestDashboardPerson syncs a video of a person who speaks with the speech of another person. The
// clips are in the folder that LIPSYNC_SHARED names, see docs/testing.md.
func TestDashboardPerson(t *testing.T) {
	media := sharedtest.Path(t, "media")
	s := startServer(t, t.TempDir())
	b := browsertest.New(t)
	b.SignIn(s.link(t), "Requests")
	speech := ffmpegtest.Make(t, "speech.wav", "-t", "2.4", "-i", filepath.Join(media, "speech.wav"))
	s.syncInBrowser(b, filepath.Join(media, "talking_man.mp4"), speech, "person")
	b.Do(chromedp.Click("[data-output]"))
	b.Wait(`document.querySelector("[data-output]").currentTime > 1 && !document.querySelector("[data-source]").paused &&
		Math.abs(document.querySelector("[data-output]").currentTime - document.querySelector("[data-source]").currentTime) <= 0.3`)
	type player struct {
		Duration      float64
		Width, Height int
		Broken        bool
	}
	got := browsertest.Eval[[]player](b, `["[data-output]", "[data-source]"].map((name) => document.querySelector(name)).map((video) => (
		{ Duration: video.duration, Width: video.videoWidth, Height: video.videoHeight, Broken: video.error !== null }))`)
	output, source := got[0], got[1]
	if output.Broken || source.Broken {
		t.Errorf("got %+v beside %+v, want both to play", output, source)
	}
	if output.Width != 512 || output.Height != 512 || math.Abs(output.Duration-2.4) > 0.1 {
		t.Errorf("got %+v, want 512 × 512 pixels for 2.4 s", output)
	}
}

// syncInBrowser sends two files, and waits until both players can play.
func (s *server) syncInBrowser(b *browsertest.Browser, video, audio, reference string) {
	b.Open(s.url + "/dashboard/new")
	b.Do(
		chromedp.SetUploadFiles("[data-drop=video] [data-file]", []string{video}),
		chromedp.SetUploadFiles("[data-drop=audio] [data-file]", []string{audio}),
		chromedp.SendKeys("input[name=reference_id]", reference),
		chromedp.Click("[data-start]"))
	b.Wait(`document.querySelector("[data-output]")?.readyState >= 2 && document.querySelector("[data-source]").readyState >= 2`)
}

// TestDashboardCancel cancels a request whose video's server never answers.
func TestDashboardCancel(t *testing.T) {
	stall := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		select {
		case <-stall:
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	defer close(stall)
	data := t.TempDir()
	s := startServer(t, data, "--allow-private-networks")
	b := browsertest.New(t)
	b.SignIn(s.link(t), "Requests")
	b.Open(s.url + "/dashboard/new")
	b.Do(
		chromedp.SendKeys("input[name=video]", slow.URL+"/video.mp4"),
		chromedp.SetUploadFiles("[data-drop=audio] [data-file]", []string{fixtures.speech}),
		chromedp.Click("[data-start]"))
	b.Wait(`document.querySelector(".progress .processing")`)
	b.Do(chromedp.Click("form[action$=cancel] button"))
	b.Wait(`document.querySelector("#state .notice")?.textContent.includes("canceled by the client")`)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		left, err := filepath.Glob(filepath.Join(data, "scratch", "*"))
		if err == nil && len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("left behind: %v, %v", left, err)
		}
	}
}

// TestDocs opens the pages of documentation without a key, and finds the link to them in the dashboard.
func TestDocs(t *testing.T) {
	s := startServer(t, t.TempDir())
	if page := get(t, s.url+"/docs/operations"); !strings.Contains(page, "<h1 id=\"operations-on-one-machine\">") {
		t.Errorf("got %.200s", page)
	}
	if page := s.page(t, "/dashboard/api"); !strings.Contains(page, `<a href="/docs/errors">Errors</a>`) {
		t.Errorf("got %s, want a link to the page of errors", page)
	}
	if page := s.page(t, "/dashboard"); !strings.Contains(page, `<a href="/docs/">Docs</a>`) {
		t.Error("the menu doesn't lead to the pages")
	}
}

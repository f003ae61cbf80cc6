package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/internal/domain/settings"
	"lipsync/internal/domain/version"
	"lipsync/internal/test/onnxtest"
	"lipsync/internal/test/resttest"
)

// TestContract runs the suite of the API's contract against the program.
func TestContract(t *testing.T) {
	const rate = 60
	data := t.TempDir()
	s := startServer(t, data, "--max-video", "1MiB", "--max-audio", "1MiB", "--allow-private-networks")
	resttest.Run(t, resttest.Target{
		URL:          s.url,
		GenerateRate: rate, ReadRate: 600, MaxVideo: 1 << 20, MaxAudio: 1 << 20,
		KeepOutputs: 30 * 24 * time.Hour,
		Video:       read(t, fixtures.video), Audio: read(t, fixtures.speech), Long: read(t, fixtures.long), FetchesHere: true,
		NewKey: func(t testing.TB, account, name string, limit int64) (string, func()) {
			return createKey(t, data, account, name, limit), func() { revokeKey(t, data, account) }
		},
		NewReadOnly: func(t testing.TB, account string) string {
			token, _, _ := command(t.(*testing.T), "keys", "create", "--data", data, "--account", account, "--name", "reads", "--read-only")
			return strings.TrimSpace(token)
		},
	})
}

// TestOptionsByNetwork_long renders a few options by a network that the service has.
func TestOptionsByNetwork_long(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data, append(serveWith(t, onnxtest.Grey()), "--allow-private-networks")...)
	resttest.Looks(t, resttest.Target{URL: s.url, FetchesHere: true, NewKey: func(t testing.TB, account, name string, limit int64) (string, func()) {
		return createKey(t, data, account, name, limit), func() { revokeKey(t, data, account) }
	}}, "wav2lip")
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestInputs sends one job in each way that the API offers. All have the same video, so the first pass of one is enough.
func TestInputs(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data, "--allow-private-networks")
	c := testClient{s.url, newKey(t, data)}
	files := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(fixtures.video))))
	defer files.Close()

	form, err := c.generate(t.Context(), fixtures.video, fixtures.speech)
	if err != nil {
		t.Fatal(err)
	}
	c.wait(t, form)
	for way, id := range map[string]string{
		"multipart": form,
		"URL":       c.start(t, files.URL+"/video.mp4", files.URL+"/speech.wav"),
		"upload":    c.start(t, c.upload(t, "video", fixtures.video), c.upload(t, "audio", fixtures.speech)),
		"mixed":     c.start(t, files.URL+"/video.mp4", c.upload(t, "audio", fixtures.speech)),
	} {
		r := c.wait(t, id)
		if r.Status != "completed" {
			t.Errorf("%s: got %+v, want it completed", way, r)
			continue
		}
		output := filepath.Join(t.TempDir(), "output.mp4")
		if err := c.download(t.Context(), r.OutputURL, output); err != nil {
			t.Errorf("%s: %v", way, err)
		}
		wantVideo(t, output, "480,270,25/1,15")
	}
	if r := c.wait(t, c.start(t, files.URL+"/missing.mp4", files.URL+"/speech.wav")); r.ErrorMessage != "video URL is not accessible" {
		t.Errorf("missing: got %+v, want it failed", r)
	}
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
	if first, later := len(s.log.with("findings_used=false")), len(s.log.with("findings_used=true")); first != 1 || later != 3 {
		t.Errorf("%d jobs used no findings and %d did, want 1 and 3:\n%s", first, later, strings.Join(s.log.with(""), "\n"))
	}
}

// wantVideo checks the width, height, rate and frames of a file.
func wantVideo(t *testing.T, path, want string) {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v:0", "-count_frames",
		"-show_entries", "stream=width,height,r_frame_rate,nb_read_frames", "-of", "csv=p=0", path).Output()
	if got := strings.TrimSpace(string(out)); err != nil || got != want {
		t.Errorf("%s: got %s (error %v), want %s", filepath.Base(path), got, err, want)
	}
}

// start starts a job of two URLs.
func (c testClient) start(t *testing.T, video, audio string) string {
	t.Helper()
	return c.begin(t, map[string]any{"inputs": inputs(video, audio)})
}

// inputs returns the inputs of a job of two URLs.
func inputs(video, audio string) []map[string]string {
	return []map[string]string{{"type": "video", "url": video}, {"type": "audio", "url": audio}}
}

// begin starts a job, and returns its id.
func (c testClient) begin(t *testing.T, body map[string]any) string {
	t.Helper()
	var made struct {
		ID string `json:"request_id"`
	}
	c.post(t, "/api/v1/lipsync/generate", body, &made)
	return made.ID
}

// upload announces and sends a file, and returns the URL that names it as an input.
func (c testClient) upload(t *testing.T, kind, path string) string {
	t.Helper()
	body := read(t, path)
	var made struct {
		URL       string            `json:"url"`
		UploadURL string            `json:"upload_url"`
		Headers   map[string]string `json:"headers"`
	}
	c.post(t, "/api/v1/uploads", map[string]any{"type": kind, "size": len(body), "content_type": "application/octet-stream"}, &made)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, made.UploadURL, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range made.Headers {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("upload: got %s", response.Status)
	}
	return made.URL
}

func (c testClient) post(t *testing.T, path string, body, answer any) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.call(t.Context(), http.MethodPost, path, "application/json", bytes.NewReader(b), answer); err != nil {
		t.Fatal(err)
	}
}

// TestPrivateNetworks sends a URL of this machine to a server that may not fetch from private
// networks.
func TestPrivateNetworks(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	c := testClient{s.url, newKey(t, data)}
	files := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the file was asked for")
	}))
	defer files.Close()
	r := c.wait(t, c.start(t, files.URL+"/video.mp4", files.URL+"/speech.wav"))
	if r.Status != "failed" || r.ErrorMessage != "video URL is not accessible" {
		t.Errorf("got %+v, want it failed", r)
	}
	s.waitLog(t, "is in a private network: --allow-private-networks allows those", time.Minute)
}

// TestStop stops a server in the middle of a job and of a call whose body stands still. The next
// server does the job.
func TestStop(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data, "--allow-private-networks")
	c := testClient{s.url, newKey(t, data)}
	asked, release := make(chan struct{}, 1), make(chan struct{})
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
			<-release
		default:
		}
		http.ServeFile(w, r, filepath.Join(filepath.Dir(fixtures.video), r.URL.Path))
	}))
	defer files.Close()
	id := c.start(t, files.URL+"/video.mp4", files.URL+"/speech.wav")
	<-asked
	uploading, stuck := io.Pipe()
	defer stuck.Close()
	go func() {
		_ = c.call(context.Background(), http.MethodPost, "/api/v1/lipsync/generate", "application/json", uploading, nil)
	}()
	if _, err := stuck.Write([]byte("{")); err != nil {
		t.Fatal(err)
	}
	if err := s.stop(t); err != nil {
		t.Errorf("stop: %v, log %q", err, s.log.with(""))
	}
	close(release)
	if left, err := os.ReadDir(filepath.Join(data, "scratch")); err != nil || len(left) > 0 {
		t.Errorf("scratch holds %v (error %v), want nothing", left, err)
	}
	s = startServer(t, data, "--allow-private-networks")
	c.base = s.url
	if r := c.wait(t, id); r.Status != "completed" {
		t.Errorf("got %+v, want it completed", r)
	}
}

func TestTwoServers(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	_, said, status := command(t, "serve", "--data", data, "--addr", "127.0.0.1:0")
	if status != failed || !strings.Contains(said, "another server uses the data folder") {
		t.Errorf("second server: got status %d, %q", status, said)
	}
	address := strings.TrimPrefix(s.url, "http://")
	_, said, status = command(t, "serve", "--data", t.TempDir(), "--addr", address)
	if want := "lipsync: " + address + " is in use; choose another with --addr\n"; status != failed || !strings.HasSuffix(said, want) {
		t.Errorf("second server on the address: got status %d, %q, want %q", status, said, want)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said, status := command(t, "serve", "--data", file); status != failed || !strings.HasSuffix(said, "lipsync: --data "+file+" is a file, not a folder\n") {
		t.Errorf("a file for data: got status %d, %q", status, said)
	}
	s.kill()
	startServer(t, data) // the files of a killed server don't prevent the start
}

func TestServeUsage(t *testing.T) {
	for option, want := range map[string]string{
		"--workers=-1":                           "--workers must be 1 or more",
		"--addr=18081":                           "--addr must be HOST:PORT, such as 127.0.0.1:8080",
		"--addr=":                                "--addr must be HOST:PORT, such as 127.0.0.1:8080",
		"--metrics-addr=9090":                    "--metrics-addr must be HOST:PORT, such as 127.0.0.1:9090",
		"--log-level=loud":                       "--log-level must be debug, info, warn or error",
		"--workers=abc":                          "--workers must be 1 or more",
		"--keep-inputs=5":                        "--keep-inputs must be 1h or more",
		"--public-url=:::":                       "--public-url must be http://HOST or https://HOST, with a port or none, and no path",
		"--nvidia-encode=maybe":                  "--nvidia-encode must be true or false",
		"--read-rate=0":                          "--read-rate must be 1 or more",
		"--max-side=0":                           "--max-side must be more than 0",
		"--max-keys=0":                           "--max-keys must be more than 0",
		"--keep-inputs=59m":                      "--keep-inputs must be 1h or more",
		"--keep-outputs=0":                       "--keep-outputs must be 1h or more",
		"--max-video=5GB":                        "--max-video must be a size above 0, such as 5GiB, 500MiB or 1048576",
		"--public-url=example.com":               "--public-url must be",
		"--public-url=ftp://example.com":         "--public-url must be",
		"--public-url=https://a.example/lipsync": "--public-url must be",
		"--public-url=https://me@a.example":      "--public-url must be",
	} {
		_, said, status := command(t, "serve", "--data", t.TempDir(), "--addr=nowhere:1", option)
		if status != usage || !strings.HasPrefix(said, "lipsync: "+want) || !strings.HasSuffix(said, "Try: lipsync serve --help\n") {
			t.Errorf("%s: got status %d, %q, want %d, %q", option, status, said, usage, want)
		}
	}
	t.Run("environment", func(t *testing.T) {
		t.Setenv(settings.Addr.Env(), "")
		if _, said, status := command(t, "serve", "--data", t.TempDir()); status != usage || !strings.HasPrefix(said, "lipsync: --addr must be HOST:PORT, such as 127.0.0.1:8080 (LIPSYNC_ADDR is \"\")\n") {
			t.Errorf("an empty variable: got status %d, %q", status, said)
		}
	})
	_, said, status := command(t, "serve", "--data", t.TempDir(), "--addr=nowhere:1", "--public-url=https://a.example:8443/")
	if status != failed || !strings.Contains(said, "nowhere") {
		t.Errorf("nowhere: got status %d, %q, want %d", status, said, failed)
	}
}

func TestServeSaysHowToMakeAKey(t *testing.T) {
	data := t.TempDir()
	for _, want := range []int{1, 0} {
		s := startServer(t, data)
		if got := len(s.log.with("lipsync keys create")); got != want {
			t.Errorf("hints: got %d, want %d", got, want)
		}
		s.kill()
		newKey(t, data)
	}
}

// TestVersion checks that --version and a server's log have the version.
func TestVersion(t *testing.T) {
	printed, said, status := command(t, "--version")
	if !regexp.MustCompile(`^lipsync `+regexp.QuoteMeta(version.Number)+`(\+\S+)?\n$`).MatchString(printed) || said != "" || status != ok {
		t.Errorf("got status %d, %q and %q, want lipsync %s", status, printed, said, version.Number)
	}
	s := startServer(t, t.TempDir())
	if lines := s.log.with("msg=start version=" + version.Number); len(lines) != 1 {
		t.Errorf("got %q, want one line of the version", lines)
	}
}

// TestLog reads all that a server says in both forms, after calls through a proxy: an answer that clients ask for again and again has a line
// at the level debug only, and the others have the client's address.
func TestLog(t *testing.T) {
	for form, level := range map[string]string{"text": "info", "json": "debug"} {
		data := t.TempDir()
		s := startServer(t, data, "--log-format", form, "--log-level", level, "--trusted-proxies", "127.0.0.1")
		for _, path := range []string{"/api/v1/users/me", "/api/health"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Forwarded-For", "203.0.113.9")
			if answer, err := http.DefaultClient.Do(r); err != nil || answer.Body.Close() != nil {
				t.Fatal(err)
			}
		}
		if err := s.stop(t); err != nil {
			t.Error(err)
		}
		if got := len(s.log.with("203.0.113.9")); got != map[string]int{"info": 1, "debug": 2}[level] {
			t.Errorf("%s: got %d lines of calls with the client: %q", level, got, s.log.with(""))
		}
		for _, line := range s.log.with("") {
			if good := map[string]bool{"text": strings.HasPrefix(line, "time="), "json": json.Valid([]byte(line))}; !good[form] {
				t.Errorf("%s: got the line %q", form, line)
			}
		}
	}
}

// TestLogLevel checks that a server with --log-level WARN logs no lines of level INFO, and warns of a proxy that no setting names.
func TestLogLevel(t *testing.T) {
	data := t.TempDir()
	var said bytes.Buffer
	serve := exec.CommandContext(t.Context(), fixtures.program, serveArgs(data, []string{"--log-level", "WARN"})...)
	serve.Stderr = &said
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	var address []byte
	waitText(t, "http://", time.Minute, func() string {
		address, _ = os.ReadFile(datafolder.AddressFile(data)) // absent until the server listens
		return string(address)
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, string(address), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Forwarded-Proto", "https")
	if answer, err := http.DefaultClient.Do(r); err != nil || answer.Body.Close() != nil {
		t.Error(err)
	}
	if err := errors.Join(serve.Process.Signal(syscall.SIGTERM), serve.Wait()); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]bool{"level=INFO": false, `level=WARN msg="there is no API key yet"`: true, "see --public-url and --trusted-proxies": true} {
		if strings.Contains(said.String(), text) != want {
			t.Errorf("got %s, want %s: %t", said.String(), text, want)
		}
	}
}

// TestWithoutFFmpeg starts a server without ffmpeg in PATH.
func TestWithoutFFmpeg(t *testing.T) {
	c := exec.CommandContext(t.Context(), fixtures.program, "serve", "--data", t.TempDir(), "--addr", "127.0.0.1:0")
	c.Env = []string{"PATH=" + t.TempDir()}
	said, err := c.CombinedOutput()
	if want := "lipsync: ffmpeg not found in PATH; install it, such as by: apt install ffmpeg\n"; err == nil || string(said) != want {
		t.Errorf("got %q (%v), want %q", said, err, want)
	}
}

// TestSlowBody leaves a connection open in the middle of a body.
func TestSlowBody(t *testing.T) {
	limit := 50 * time.Millisecond
	done := make(chan error, 1)
	s := httptest.NewServer(stalling(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := r.Body.Read(make([]byte, 10))
		for err == nil {
			_, err = r.Body.Read(make([]byte, 10))
		}
		done <- err
	}), limit))
	defer s.Close()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	go func() {
		if response, err := http.Post(s.URL, "", reader); err == nil {
			response.Body.Close()
		}
	}()
	if _, err := writer.WriteString("some"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !os.IsTimeout(err) {
		t.Errorf("got %v, want a timeout", err)
	}
}

// TestDrippingBody sends a body byte by byte to a handler that bounds its time.
func TestDrippingBody(t *testing.T) {
	const bound = 200 * time.Millisecond
	done := make(chan error, 1)
	s := httptest.NewServer(stalling(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bound))
		_, err := io.ReadAll(r.Body)
		done <- err
	}), 100*bound))
	defer s.Close()
	reader, writer := io.Pipe()
	defer writer.Close()
	go func() {
		if response, err := http.Post(s.URL, "", reader); err == nil {
			response.Body.Close()
		}
	}()
	for {
		select {
		case err := <-done:
			if !os.IsTimeout(err) {
				t.Errorf("got %v, want a timeout", err)
			}
			return
		case <-time.After(bound / 10):
			go func() { _, _ = writer.Write([]byte(" ")) }()
		}
	}
}

// TestUnreadBody leaves a connection open in the middle of a body that the handler doesn't read, as
// when it refuses a call.
func TestUnreadBody(t *testing.T) {
	s := httptest.NewServer(stalling(http.NotFoundHandler(), 50*time.Millisecond))
	defer s.Close()
	connection, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(connection, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nsome"); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(connection); err != nil || !bytes.Contains(answer, []byte("404")) {
		t.Errorf("got %q (error %v), want an answer and the connection closed", answer, err)
	}
}

func TestLimits(t *testing.T) {
	for option, want := range map[string]string{
		"--max-side=400":      "video is larger than 400 × 400 pixels: 480 × 270 pixels",
		"--max-fps=24.5":      "video has more than 24.5 frames per second: 25",
		"--max-duration=0.1s": "video is longer than ",

		"--max-gigapixels=0.003": "video and output have more than 0.003 gigapixels (width × height × frames of both): 0.00389",
	} {
		data := t.TempDir()
		s := startServer(t, data, option)
		c := testClient{s.url, newKey(t, data)}
		id, err := c.generate(t.Context(), fixtures.video, fixtures.speech)
		if err != nil {
			t.Fatal(err)
		}
		if r := c.wait(t, id); r.Status != "failed" || !strings.HasPrefix(r.ErrorMessage, want) {
			t.Errorf("%s: got %+v, want %q", option, r, want)
		}
	}
}

// TestAccountLimits makes requests until one is refused: because the request before is still open, or
// because of the bytes of the outputs so far.
func TestAccountLimits(t *testing.T) {
	files := fileSize(t, fixtures.video) + fileSize(t, fixtures.speech)
	for _, test := range []struct {
		option string
		wait   bool // wait for the end of each request before the next
		want   string
	}{
		{"--max-open-requests=1", false, "429 Too Many Requests"},
		{fmt.Sprintf("--max-stored=%d", files), true, "507 Insufficient Storage"},
	} {
		data := t.TempDir()
		s := startServer(t, data, test.option)
		c := testClient{s.url, newKey(t, data)}
		made, err := 0, error(nil)
		for ; err == nil && made < 10; made++ {
			var id string
			if id, err = c.generate(t.Context(), fixtures.video, fixtures.speech); err == nil && test.wait {
				c.wait(t, id)
			}
		}
		if made < 2 || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v for request %d, want %q after the first", test.option, err, made, test.want)
		}
	}
}

// fileSize returns the size of a file in bytes.
func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

package worker_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/http/fetch"
	"lipsync/internal/render"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/store/s3"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/lipsynctest"
	"lipsync/internal/work/worker"
)

var (
	outageLength = flag.Duration("outage", 2*time.Second, "length of the outages in TestCutSteps_long")
	outageSilent = flag.Bool("silent", false, "TestCutSteps_long also has outages in which connections stay open but carry nothing")
)

// network is the network of one machine, with links to other servers. It can be cut.
type network struct {
	silent bool // during an outage connections stay open but carry nothing; otherwise they are reset

	mu      sync.Mutex
	outages int
	cut     chan struct{} // closed when the outage ends; nil if there is none
	conns   map[net.Conn]bool
}

// outage cuts the network for a while. It does nothing during an outage.
func (n *network) outage() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut != nil {
		return
	}
	whole := make(chan struct{})
	n.cut = whole
	n.outages++
	if !n.silent {
		for c := range n.conns {
			reset(c)
		}
	}
	time.AfterFunc(*outageLength, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.cut = nil
		close(whole)
	})
}

func reset(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}

// passes waits until bytes can pass, and reports whether the connection still exists.
func (n *network) passes() bool {
	n.mu.Lock()
	cut := n.cut
	n.mu.Unlock()
	if cut != nil && n.silent {
		<-cut
	}
	return cut == nil || n.silent
}

// link returns an address that forwards to the server at the given address. An outage begins once
// it has forwarded more than down bytes to the client or up bytes to the server; 0 means no outage.
func (n *network) link(t *testing.T, to string, down, up int64) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	var once sync.Once
	carry := func(to, from net.Conn, left int64) {
		counted := left > 0
		for buffer := make([]byte, 32<<10); ; {
			m, err := from.Read(buffer)
			if left -= int64(m); counted && left < 0 {
				once.Do(n.outage)
			}
			if !n.passes() {
				reset(to)
				return
			}
			if _, written := to.Write(buffer[:m]); err != nil || written != nil {
				_ = to.(*net.TCPConn).CloseWrite()
				return
			}
		}
	}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil || !n.passes() {
				reset(near)
				continue
			}
			n.mu.Lock()
			n.conns[near], n.conns[far] = true, true
			n.mu.Unlock()
			go func() {
				var both sync.WaitGroup
				both.Go(func() { carry(near, far, down) })
				both.Go(func() { carry(far, near, up) })
				both.Wait()
				_, _ = near.Close(), far.Close()
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

// large is larger than all buffers between client and server.
const large = 16 << 20

// cutStep is a step of an attempt in which the network is cut.
type cutStep struct {
	video, audio     int  // in bytes
	ranges           bool // the media server supports ranges
	stored           bool // the media are in the bucket
	webDown          int64
	awsDown, awsUp   int64
	rendering, ended bool // it is cut while rendering, or once the output is stored
}

// TestCutSteps_long cuts the network of a runner on AWS in the middle of each step: to the store, to
// the bucket and to the media servers. Each request must complete soon after, at its first
// attempt, with the right output.
func TestCutSteps_long(t *testing.T) {
	e := awstest.Shared(t)
	for name, step := range map[string]cutStep{
		"fetch video":             {video: large, audio: 10, ranges: true, webDown: large / 2},
		"fetch video, no ranges":  {video: large, audio: 10, webDown: large / 2},
		"fetch audio":             {video: 10, audio: large, ranges: true, webDown: large / 2},
		"read from the bucket":    {video: large, audio: 10, stored: true, awsDown: large / 2},
		"render":                  {video: 10, audio: 10, rendering: true},
		"write to the bucket":     {video: large, audio: 10, awsUp: large / 2},
		"end, with output stored": {video: 10, audio: 10, ended: true},
	} {
		for _, silent := range []bool{false, true} {
			if silent && !*outageSilent {
				continue
			}
			t.Run(fmt.Sprintf("%s/silent=%t", name, silent), func(t *testing.T) {
				t.Parallel()
				testCutStep(t, e, step, &network{silent: silent, conns: make(map[net.Conn]bool)})
			})
		}
	}
}

func testCutStep(t *testing.T, e *awstest.Emulator, step cutStep, n *network) {
	video, audio := bytes.Repeat([]byte("v"), step.video), bytes.Repeat([]byte("a"), step.audio)
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content := map[string][]byte{"/video": video, "/audio": audio}[r.URL.Path]
		if step.ranges {
			w.Header().Set("ETag", `"1"`)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
			return
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(files.Close)
	web := n.link(t, files.Listener.Addr().String(), step.webDown, 0)
	table, bucket := e.Table(t), e.Bucket(t)
	config := base.Config{Engines: []string{"warp"}}
	client := lipsynctest.NewService(t, config, base.Ports{
		Store:   dynamodb.New(e.Config(), table).Store,
		Objects: s3.New(e.Config(), bucket, s3.Signer{}),
		Hints:   noQueue{},
	})
	request := requests.Params{Video: requests.Source{URL: web + "/video"}, Audios: []requests.Track{{Source: requests.Source{URL: web + "/audio"}}}}
	if step.stored {
		request = store(t, client, video, audio)
	}
	id, err := client.Generate(t.Context(), lipsync.Caller{Account: "a"}, request)
	if err != nil {
		t.Fatal(err)
	}

	cfg := awstest.Config(n.link(t, strings.TrimPrefix(e.URL, "http://"), step.awsDown, step.awsUp))
	ports := base.Ports{Store: dynamodb.New(cfg, table).Store, Objects: s3.New(cfg, bucket, s3.Signer{}), Hints: noQueue{}}
	if step.ended {
		ports.Objects = &storing{ports.Objects, sync.OnceFunc(n.outage)}
	}
	cut := sync.OnceFunc(n.outage)
	transfers := fetch.New(fetch.Options{AllowPrivate: true, Total: 5 * time.Minute, Stall: 10 * time.Second})
	w, err := worker.New(worker.Config{
		Work: lipsynctest.NewService(t, config, ports).Work, Scratch: t.TempDir(), Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Fetcher: transfers, Sender: transfers,
		Renderer: untold(func(ctx context.Context, j render.Job) error {
			if step.rendering {
				cut()
				time.Sleep(time.Second)
			}
			return concatenate(ctx, j)
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 4**outageLength+2*time.Minute)
	defer stop()
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx, 1, nil) }()
	var r lipsync.Request
	for err = nil; ctx.Err() == nil && err == nil && !r.Status.Final(); r, err = client.Store.Requests.ByID(ctx, id) {
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	<-done
	if err != nil || r.Status != lipsync.Completed || r.Attempts != 1 {
		t.Fatalf("got %s %q after %d attempts (%v), want it completed after one", r.Status, r.Failure.Code, r.Attempts, err)
	}
	output, _, err := client.Objects.Open(t.Context(), r.Output)
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	if got, err := io.ReadAll(output); err != nil || !bytes.Equal(got, append(video, audio...)) {
		t.Errorf("got an output of %d bytes (%v), want the %d of both inputs", len(got), err, len(video)+len(audio))
	}
	if n.outages != 1 {
		t.Errorf("there were %d outages, want one", n.outages)
	}
	if left, err := os.ReadDir(w.Config().Scratch); err != nil || len(left) > 0 {
		t.Errorf("scratch holds %v (%v), want nothing", left, err)
	}
}

// store stores both media by a form.
func store(t *testing.T, s *service.Service, video, audio []byte) requests.Params {
	t.Helper()
	n := requests.Params{ID: s.NewRequestID(), Audios: make([]requests.Track, 1)}
	var errs [2]error
	n.Video, errs[0] = s.StoreMedia(t.Context(), n.ID, failure.Video, bytes.NewReader(video))
	n.Audios[0].Source, errs[1] = s.StoreMedia(t.Context(), n.ID, failure.Audio, bytes.NewReader(audio))
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return n
}

// storing calls the function stored after each object that it stores.
type storing struct {
	lipsync.Objects
	stored func()
}

func (s *storing) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	err := s.Objects.Put(ctx, key, r, size)
	s.stored()
	return err
}

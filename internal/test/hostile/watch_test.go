package hostile_test

import (
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/render/measure"
)

// watch notices when a program reads a file, or sends something to an address.
type watch struct {
	address string // of this host; watch listens there with TCP and UDP
	calls   atomic.Int64
	reads   int // descriptor of inotify
}

func newWatch(t *testing.T, file string) *watch {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &watch{address: tcp.Addr().String()}
	udp, err := net.ListenPacket("udp", w.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tcp.Close(); udp.Close() })
	go func() {
		for {
			c, err := tcp.Accept()
			if err != nil {
				return
			}
			w.calls.Add(1)
			c.Close()
		}
	}()
	go func() {
		for {
			if _, _, err := udp.ReadFrom(make([]byte, 1)); err != nil {
				return
			}
			w.calls.Add(1)
		}
	}()
	if w.reads, err = unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(w.reads) })
	if _, err := unix.InotifyAddWatch(w.reads, file, unix.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	return w
}

// check checks that nothing happened since the last check, and that no child process is left.
func (w *watch) check(t *testing.T, what string) {
	t.Helper()
	if n := w.calls.Swap(0); n > 0 {
		t.Errorf("%s: it called an address %d times", what, n)
	}
	if n, _ := unix.Read(w.reads, make([]byte, 4096)); n > 0 {
		t.Errorf("%s: it opened another file", what)
	}
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		if children, _ := os.ReadFile(task); len(children) > 0 {
			t.Errorf("%s: it left the process %s", what, children)
		}
	}
}

// TestWatch checks that the watch notices what it should.
func TestWatch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWatch(t, file)
	if _, err := os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	for _, network := range []string{"tcp", "udp"} {
		c, err := net.Dial(network, w.address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "x")
		c.Close()
	}
	for end := time.Now().Add(10 * time.Second); w.calls.Load() < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d calls seen, want 2", w.calls.Load())
		}
	}
	if n, _ := unix.Read(w.reads, make([]byte, 4096)); n <= 0 {
		t.Error("the read was not seen")
	}
}

// sampling measures again and again how much memory this process and its children use.
type sampling struct {
	started   time.Time
	processor time.Duration // at the start
	end       chan struct{}
	most      chan int64
}

func startSampling() sampling {
	const every = 20 * time.Millisecond
	debug.FreeOSMemory() // frees the memory of earlier samples
	s := sampling{time.Now(), processorTime(), make(chan struct{}), make(chan int64)}
	go func() {
		var most int64
		for {
			most = max(most, measure.Memory(os.Getpid()))
			select {
			case <-s.end:
				s.most <- most
				return
			case <-time.After(every):
			}
		}
	}()
	return s
}

// stop returns what was used since the start, under a name.
func (s sampling) stop(name string) result {
	r := result{name: name, took: time.Since(s.started), processor: processorTime() - s.processor}
	close(s.end)
	r.memory = <-s.most
	return r
}

// processorTime returns the processor time of this process and of its children that have ended.
func processorTime() (total time.Duration) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		_ = unix.Getrusage(who, &u) // it fails only for an unknown who
		total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return total
}

// checkOutput checks that an output is as the service promises, and has the right length.
func checkOutput(t *testing.T, tools *ffmpeg.Tools, path string, length time.Duration) {
	t.Helper()
	info, err := tools.Probe(t.Context(), path)
	if err != nil || info.Format != "mov" || info.Video == nil || info.Audio == nil {
		t.Errorf("got output %+v (%v)", info, err)
		return
	}
	frames, err := tools.OpenFrames(t.Context(), info, 1<<20)
	if err != nil {
		t.Error(err)
		return
	}
	defer frames.Close()
	n, frame := 0, info.Video.NewFrame()
	for err = frames.Read(frame); err == nil; err = frames.Read(frame) {
		n++
	}
	shown := time.Duration(float64(n) / info.Video.Rate.Float() * float64(time.Second))
	if err != io.EOF || (shown-length).Abs() > time.Second/25 {
		t.Errorf("got video of %v (%v), want %v", shown, err, length)
	}
	// Audio codecs pad up to 90 ms.
	if info.Duration < length-50*time.Millisecond || info.Duration > length+150*time.Millisecond {
		t.Errorf("got an output of %v, want %v", info.Duration, length)
	}
}

// digits matches the numbers in a sentence, which do not make it another sentence.
var digits = regexp.MustCompile(`\b[0-9][0-9.]*(e[+-]?[0-9]+)?`)

// counts counts things by name.
type counts map[string]int

func (c *counts) add(name string) {
	if *c == nil {
		*c = counts{}
	}
	(*c)[name]++
}

func (c counts) total() (n int) {
	for _, k := range c {
		n += k
	}
	return n
}

func (c counts) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&b, "%4d  %s\n", c[name], name)
	}
	return b.String()
}

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// faultyServer is a server on a small disk whose writes can be made to fail.
type faultyServer struct {
	*soaked
	disk     smallDisk
	injector *injector
}

// fault is a kind of fault that a soak makes.
type fault struct {
	name  string
	begin func(*testing.T) (end func())
	met   func() int // returns how often the running server met faults of the kind
	seen  int        // number of faults that the server met
}

// faultPatience is the largest number of checks for which a fault waits until the server meets it:
// 10 s. At that time the server may do nothing that the fault affects. The server meets at least one
// of enoughFaults faults of a kind.
const faultPatience, enoughFaults = 100, 3

func newFaultyServer(t *testing.T) *faultyServer {
	t.Helper()
	f := &faultyServer{soaked: newSoaked(t), disk: newSmallDisk(t, "128m")}
	var info unix.Stat_t
	if err := unix.Stat(f.disk.path(""), &info); err != nil {
		t.Fatal(err)
	}
	f.injector = &injector{disk: info.Dev, random: rand.New(rand.NewPCG(f.load.Seed, 1))}
	return f
}

func (f *faultyServer) run(t *testing.T) {
	t.Helper()
	args := append(soakArgs(), "--disk-reserve", "8MiB")
	f.use(f.injector.start(t, f.disk.path("data"), f.disk.within(append([]string{fixtures.program}, serveArgs(f.disk.data(), args)...)...)))
}

// full fills the disk for a moment.
func (f *faultyServer) full(t *testing.T) (end func()) {
	t.Helper()
	filler := f.disk.path("filler")
	fill(t, filler)
	return func() {
		if err := os.Remove(filler); err != nil {
			t.Error(err)
		}
	}
}

// broken makes a few writes of files fail with EIO.
func (f *faultyServer) broken(t *testing.T) (end func()) {
	t.Helper()
	return f.injector.fail(1 + f.random.IntN(3))
}

// crowded lets the server open only a few files more than it has open.
func (f *faultyServer) crowded(t *testing.T) (end func()) {
	t.Helper()
	pid := f.process.Process.Pid
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	var before unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &before); err != nil {
		t.Fatal(err)
	}
	few := before
	few.Cur = uint64(len(open) + f.random.IntN(4))
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &few, nil); err != nil {
		t.Fatal(err)
	}
	return func() { _ = unix.Prlimit(pid, unix.RLIMIT_NOFILE, &before, nil) } // the server may have been killed
}

// said returns a function that counts the lines of the server's log with the text.
func (f *faultyServer) said(text string) func() int {
	return func() int { return len(f.log.with(text)) }
}

// make makes a fault of the kind. The fault lasts until the server has met it, and then up to 3 s
// more. In one of four faults it kills the server.
func (f *faultyServer) make(t *testing.T, kind *fault) {
	t.Helper()
	before := kind.met()
	end := kind.begin(t)
	for looks := 0; kind.met() == before && looks < faultPatience; looks++ {
		time.Sleep(lookEvery)
	}
	if kind.met() > before {
		kind.seen++
	}
	time.Sleep(time.Duration(f.random.Int64N(int64(3 * time.Second))))
	killed := f.random.IntN(4) == 0
	if killed {
		f.die()
	}
	end()
	if killed {
		f.run(t)
	}
}

// TestSoakFaults_long takes the server's open files, makes its writes fail, and fills its disk, each for a
// moment, again and again.
func TestSoakFaults_long(t *testing.T) {
	t.Parallel()
	f := newFaultyServer(t)
	f.run(t)
	for n := range soakAccounts {
		f.load.Tokens = append(f.load.Tokens, f.disk.newKey(t, "--account", fmt.Sprint("account-", n)))
	}
	f.start(t)
	kinds := []*fault{
		{name: "EMFILE", begin: f.crowded, met: f.said("too many open files")},
		{name: "EIO", begin: f.broken, met: f.injector.broke},
		{name: "full disk", begin: f.full, met: f.said("no space left on device")},
	}
	for n, ended := range f.moments() {
		f.await(t, ended)
		f.make(t, kinds[n%len(kinds)])
	}
	f.finish(t)
	f.run(t) // the new server cleans up
	if err := f.stop(t); err != nil {
		t.Error(err)
	}
	data := f.disk.copied(t)
	faults := fmt.Sprintf("%d (%d writes)", *soakFaults, f.injector.broke())
	for n, kind := range kinds[:min(len(kinds), *soakFaults)] {
		made := (*soakFaults + len(kinds) - 1 - n) / len(kinds)
		faults += fmt.Sprintf(", %s met %d times of %d", kind.name, kind.seen, made)
		if kind.seen == 0 && made >= enoughFaults {
			t.Errorf("the server met no fault of kind %s, of %d", kind.name, made)
		}
	}
	if report := f.check(t, data, faults); report.Failed > 0 {
		t.Error("requests failed, though these faults cost them no attempt")
	}
}

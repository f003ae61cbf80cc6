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
	broke    int // writes so far
}

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
	stop := f.injector.fail(1 + f.random.IntN(3))
	return func() { f.broke += stop() }
}

// crowded leaves the server a few open files more than it has.
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
	return func() { _ = unix.Prlimit(pid, unix.RLIMIT_NOFILE, &before, nil) } // it may have been killed
}

// TestSoakFaults fills the server's disk, makes its writes fail, and leaves it no open
// files, each for a moment again and again. It kills the server in one of four such moments.
func TestSoakFaults(t *testing.T) {
	t.Parallel()
	f := newFaultyServer(t)
	f.run(t)
	for n := range soakAccounts {
		f.load.Tokens = append(f.load.Tokens, f.disk.newKey(t, "--account", fmt.Sprint("account-", n)))
	}
	f.start(t)
	kinds := []func(*testing.T) func(){f.crowded, f.broken, f.full}
	for n, ended := range f.moments() {
		f.await(t, ended)
		end := kinds[n%len(kinds)](t)
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
	f.finish(t)
	f.run(t) // which cleans up
	if err := f.stop(t); err != nil {
		t.Error(err)
	}
	data := t.TempDir() // SQLite opens no file of another mount namespace
	if err := os.CopyFS(data, os.DirFS(f.disk.path("data"))); err != nil {
		t.Fatal(err)
	}
	f.check(t, data, fmt.Sprintf("%d: full disk, EIO (%d writes), EMFILE", *soakFaults, f.broke))
}

package disk_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/transfer"
	"lipsync/internal/store/disk"
)

// TestReserve has less free space than the reserve. Uploads must be refused; outputs must be stored,
// and files served and deleted.
func TestReserve(t *testing.T) {
	dir := t.TempDir()
	objects := open(t, dir, time.Now)
	if err := objects.Room(1 << 50); err != nil {
		t.Errorf("without a reserve: got %v", err)
	}
	u, headers, err := objects.SignPut(t.Context(), "uploads/a", 5, "", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	put := func() *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPut, u.String(), strings.NewReader("fives"))
		r.Header = headers
		w := httptest.NewRecorder()
		objects.Handler().ServeHTTP(w, r)
		return w
	}
	objects.Reserve = 1
	if w := put(); w.Code != http.StatusOK {
		t.Errorf("with space: got %d %s, want 200", w.Code, w.Body)
	}
	objects.Reserve = 1 << 60
	const want = `{"error":"the service has too little disk space; try again later"}`
	if w := put(); w.Code != http.StatusInsufficientStorage || strings.TrimSpace(w.Body.String()) != want || w.Header().Get("Retry-After") != "60" {
		t.Errorf("without: got %d %s, Retry-After %q, want 507 %s, 60", w.Code, w.Body, w.Header().Get("Retry-After"), want)
	}
	if err := objects.Put(t.Context(), "outputs/a", strings.NewReader("fives"), 5); err != nil {
		t.Errorf("output: got %v", err)
	}
	if err := objects.Delete(t.Context(), "uploads/a"); err != nil {
		t.Error(err)
	}
}

// TestRoomToWork checks that requests may use half of the reserve, and that files which never fit are told.
func TestRoomToWork(t *testing.T) {
	dir := t.TempDir()
	objects := open(t, dir, time.Now)
	free, err := disk.Free(dir)
	if err != nil {
		t.Fatal(err)
	}
	objects.Reserve = free * 3 / 2
	var never *transfer.TooSmall
	for size, want := range map[int64]struct{ code, work failure.Code }{
		0:        {failure.NoSpace, ""},
		free / 8: {failure.NoSpace, ""},
		free / 2: {failure.NoSpace, failure.NoSpace},
		1 << 60:  {failure.NoSpace, failure.NoSpace},
	} {
		room, work := objects.Room(size), objects.RoomToWork(size)
		if failure.CodeOf(room) != want.code || failure.CodeOf(work) != want.work {
			t.Errorf("%d bytes: got %v and %v, want %+v", size, room, work, want)
		}
		if size == free/2 { // whether it could ever fit depends on how full the disk is
			continue
		}
		if got := errors.As(work, &never); got != (size == 1<<60) {
			t.Errorf("%d bytes: never fit is %t (%v)", size, got, work)
		}
	}
}

// TestRoomCounts checks that Room counts the bytes that are still to come.
func TestRoomCounts(t *testing.T) {
	dir := t.TempDir()
	objects := open(t, dir, time.Now)
	free, err := disk.Free(dir)
	if err != nil {
		t.Fatal(err)
	}
	objects.Reserve = free / 2
	if err := objects.Room(free / 4); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	if err := objects.Room(free/4*3 + 1<<20); failure.CodeOf(err) != failure.NoSpace {
		t.Errorf("got %v, want no space", err)
	}
}

// TestDiskFull makes a put fail as it does on a full disk.
func TestDiskFull(t *testing.T) {
	objects := open(t, t.TempDir(), time.Now)
	err := objects.Put(t.Context(), "outputs/a", full{}, 5)
	if failure.CodeOf(err) != failure.NoSpace {
		t.Errorf("got %v, want no space", err)
	}
}

// TestCleanBesideOpen opens a folder again and again while its server starts, as other commands
// may.
func TestCleanBesideOpen(t *testing.T) {
	dir := t.TempDir()
	server := open(t, dir, time.Now)
	stop := make(chan struct{})
	var cleaning sync.WaitGroup
	cleaning.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := server.Clean(); err != nil {
				t.Errorf("clean: %v", err)
				return
			}
		}
	})
	for range 2000 {
		other, err := disk.Open(dir, time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Errorf("open: %v", err)
			break
		}
		other.Close()
	}
	close(stop)
	cleaning.Wait()
}

// full is a source that fails as a write to a full disk does.
type full struct{}

func (full) Read([]byte) (int, error) { return 0, syscall.ENOSPC }

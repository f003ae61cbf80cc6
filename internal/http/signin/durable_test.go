package signin

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"lipsync/internal/test/lipsynctest"
)

// TestFolderSynced watches the folders. After a name in a folder has changed, the folder is opened, which
// a sync needs. The sync itself makes no event.
func TestFolderSynced(t *testing.T) {
	dir := t.TempDir()
	f := openFolder(t, dir, lipsynctest.NewClock())
	for _, c := range []struct {
		name    string
		prepare func() (token string)
		change  func(token string) error
		folder  string
		want    uint32 // the event of the change
	}{
		{"sign-out", func() string { return "" }, func(string) error { return f.EndAll(t.Context(), account) }, ended, unix.IN_MOVED_TO},
		{"secret", func() string { return "" }, func(string) error { _, err := f.Secret(); return err }, ".", unix.IN_MOVED_TO},
		{"link", func() string {
			link, err := f.NewLink(account)
			if err != nil {
				t.Fatal(err)
			}
			return link.Query().Get("token")
		}, func(token string) error { _, err := f.readLink(digest(token), true); return err }, links, unix.IN_DELETE},
	} {
		token := c.prepare()
		events := watch(t, filepath.Join(dir, c.folder))
		if err := c.change(token); err != nil {
			t.Fatal(err)
		}
		got := events()
		changed := slices.Index(got, c.want)
		if changed < 0 || !slices.Contains(got[changed:], unix.IN_OPEN|unix.IN_ISDIR) {
			t.Errorf("%s: got events %#x of %s, want %#x and then the folder opened", c.name, got, c.folder, c.want)
		}
	}
}

// watch returns a function that returns the events in a folder since watch was called.
func watch(t *testing.T, dir string) func() []uint32 {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN|unix.IN_MOVED_TO|unix.IN_DELETE); err != nil {
		t.Fatal(err)
	}
	return func() (masks []uint32) {
		b := make([]byte, 16<<10)
		n, err := unix.Read(fd, b)
		if err != nil {
			t.Fatal(err)
		}
		for b = b[:n]; len(b) > 0; {
			masks = append(masks, binary.NativeEndian.Uint32(b[4:]))
			b = b[unix.SizeofInotifyEvent+binary.NativeEndian.Uint32(b[12:]):]
		}
		return masks
	}
}

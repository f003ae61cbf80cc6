package signin

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lipsync/internal/test/lipsynctest"
)

// account is the account of the tests.
const account = "default"

func openFolder(t *testing.T, dir string, clock *lipsynctest.Clock) *Folder {
	t.Helper()
	f, err := OpenFolder(dir, clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestSecret opens a folder again, as after a restart. It has the same secret, so sessions go on.
func TestSecret(t *testing.T) {
	dir, clock := filepath.Join(t.TempDir(), "dashboard"), lipsynctest.NewClock()
	first, err := openFolder(t, dir, clock).Secret()
	if err != nil || first == [32]byte{} {
		t.Fatalf("got %v, %v", first, err)
	}
	if again, err := openFolder(t, dir, clock).Secret(); err != nil || again != first {
		t.Errorf("got another secret (%v)", err)
	}
	path := filepath.Join(dir, secretFile)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v (%v), want it readable for its owner only", info.Mode(), err)
	}
	if err := os.Truncate(path, 31); err != nil {
		t.Fatal(err)
	}
	if _, err := openFolder(t, dir, clock).Secret(); err == nil {
		t.Error("a damaged secret was taken")
	}
}

// TestLinkFiles makes links for a day. The files of ended links are removed, and no file has a token.
func TestLinkFiles(t *testing.T) {
	dir, clock := t.TempDir(), lipsynctest.NewClock()
	f := openFolder(t, dir, clock)
	for range 24 {
		link, err := f.NewLink(account)
		if err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir(filepath.Join(dir, links))
		if err != nil || len(files) != 1 {
			t.Fatalf("got %d files (%v), want 1", len(files), err)
		}
		if strings.Contains(files[0].Name(), link.Query().Get("token")) {
			t.Error("the file is named by the token")
		}
		clock.Advance(time.Hour)
	}
}

func TestSessions(t *testing.T) {
	dir := t.TempDir()
	lipsynctest.TestSessions(t, func() lipsynctest.Sessions { return openFolder(t, dir, lipsynctest.NewClock()) })
}

// TestInviteAgain invites a person again, with another role, and then removes them. Each time links that weren't used and sessions end.
func TestInviteAgain(t *testing.T) {
	f := openFolder(t, t.TempDir(), lipsynctest.NewClock())
	ann := Person{Account: "default", Name: "Ann", Role: Owner}
	identify := func(link *url.URL) (Person, error) {
		_, _, opened := f.Identify(nil, httptest.NewRequest(http.MethodGet, link.String(), nil))
		who, _, err := f.Identify(nil, httptest.NewRequest(http.MethodPost, link.String(), nil))
		if errors.Is(opened, ErrOpened) != (err == nil) {
			t.Errorf("got %v for a link that was opened, and %v when it was used", opened, err)
		}
		return who, err
	}
	generation := func() string {
		g, err := Generation(t.Context(), f, ann)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	invite := func() *url.URL {
		link, err := f.Invite(ann)
		if err != nil {
			t.Fatal(err)
		}
		return link
	}
	first, before := invite(), generation()
	ann.Role = Member
	second := invite()
	if _, err := identify(first); err == nil || generation() == before {
		t.Errorf("after another invitation the first link works (%v), or sessions go on", err)
	}
	if who, err := identify(second); err != nil || who.Role != Member {
		t.Errorf("got %+v, %v, want a member", who, err)
	}
	third := invite()
	before = generation()
	if err := f.Remove("default", "Ann"); err != nil {
		t.Fatal(err)
	}
	if _, err := identify(third); err == nil || generation() == before {
		t.Errorf("after the removal the link works (%v), or sessions go on", err)
	}
	invite()
	if _, err := identify(third); err == nil {
		t.Error("the link of a removed person works again")
	}
}

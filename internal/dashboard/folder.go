package dashboard

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
)

// LinkLife is how long a sign-in link is good for, if it isn't used.
const LinkLife = 10 * time.Minute

// Folder is sign-in on one machine: who can read the folder can make a link of
// one use, and by that sign in. Several processes may use it at a time.
type Folder struct {
	root    *os.Root
	account string
	now     func() time.Time
}

// Where things lie in the folder.
const (
	secretFile = "secret"   // seals cookies
	links      = "links"    // a file for each link: SHA-256 of its token, a dot, and when it ends, in seconds since 1970
	ended      = "sessions" // a file for each account whose sessions were ended, with their generation
)

// OpenFolder uses the folder at dir, and makes it if there is none. Who signs in
// acts for the account.
func OpenFolder(dir, account string, now func() time.Time) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(root.MkdirAll(links, 0o700), root.MkdirAll(ended, 0o700)); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Folder{root, account, now}, nil
}

// Close ends the use of the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Secret returns what seals the cookies, and makes it the first time.
func (f *Folder) Secret() (secret [32]byte, err error) {
	b, err := f.root.ReadFile(secretFile)
	if errors.Is(err, fs.ErrNotExist) {
		rand.Read(secret[:]) // never fails
		return secret, f.write(secretFile, secret[:])
	}
	if err == nil && copy(secret[:], b) != len(secret) {
		err = errors.New("the file of the dashboard's secret is damaged: delete it to get a new one")
	}
	return secret, err
}

// write replaces a file, whole or not at all. Once it returns, a power cut doesn't bring
// the old one back.
func (f *Folder) write(name string, content []byte) error {
	temporary := rand.Text()
	file, err := f.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, f.root.Remove(temporary))
	}
	if err := f.root.Rename(temporary, name); err != nil {
		return errors.Join(err, f.root.Remove(temporary))
	}
	return f.sync(path.Dir(name))
}

// sync brings the names in a folder to the disk.
func (f *Folder) sync(dir string) error {
	d, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// NewLink returns an address, relative to the service, that signs in once.
func (f *Folder) NewLink() (*url.URL, error) {
	if err := f.dropLinks(); err != nil {
		return nil, err
	}
	token := rand.Text() + rand.Text()
	name := fmt.Sprintf("%s.%d", digest(token), f.now().Add(LinkLife).Unix())
	if err := f.root.WriteFile(path.Join(links, name), nil, 0o600); err != nil {
		return nil, err
	}
	return &url.URL{Path: Root + "/sign-in", RawQuery: url.Values{"token": {token}}.Encode()}, nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// dropLinks forgets the links that ended.
func (f *Folder) dropLinks() error {
	entries, err := fs.ReadDir(f.root.FS(), links)
	for _, entry := range entries {
		if !f.good(entry.Name()) {
			err = errors.Join(err, ignore(f.root.Remove(path.Join(links, entry.Name())), fs.ErrNotExist))
		}
	}
	return err
}

// good tells whether the file is of a link that has not ended.
func (f *Folder) good(name string) bool {
	_, text, _ := strings.Cut(name, ".")
	end, err := strconv.ParseInt(text, 10, 64)
	return err == nil && f.now().Before(time.Unix(end, 0))
}

// Identify implements SignIn: the call names the token of a link.
func (f *Folder) Identify(_ http.ResponseWriter, r *http.Request) (Person, bool, error) {
	token := r.URL.Query().Get("token")
	if token == "" {
		return Person{}, false, refused("")
	}
	used, err := f.useLink(digest(token))
	if err != nil {
		return Person{}, false, fmt.Errorf("sign in: %w", err)
	}
	if !used {
		return Person{}, false, refused("This link was used already, or is older than 10 minutes.")
	}
	return Person{Account: f.account, Name: f.account}, false, nil
}

// SignOutURL implements SignIn: a link's sign-in ended when it was used.
func (f *Folder) SignOutURL() *url.URL { return nil }

// useLink reports whether there is a good link of the digest, and then ends it: its
// file can be removed once, whoever tries at the same time.
func (f *Folder) useLink(digest string) (used bool, err error) {
	entries, err := fs.ReadDir(f.root.FS(), links)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), digest+".") && f.good(entry.Name()) {
			if err := f.root.Remove(path.Join(links, entry.Name())); err != nil {
				return false, ignore(err, fs.ErrNotExist)
			}
			return true, f.sync(links) // or it could be used again after a power cut
		}
	}
	return false, err
}

// Generation implements Sessions.
func (f *Folder) Generation(_ context.Context, account string) (string, error) {
	b, err := f.root.ReadFile(path.Join(ended, digest(account)))
	return string(b), ignore(err, fs.ErrNotExist)
}

// EndAll implements Sessions.
func (f *Folder) EndAll(_ context.Context, account string) error {
	return f.write(path.Join(ended, digest(account)), []byte(rand.Text()))
}

// ignore leaves out an error that means nothing here.
func ignore(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}

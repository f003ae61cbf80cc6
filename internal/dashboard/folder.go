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
	links      = "links"    // a file for each link, named by its token's SHA-256, with its end in it
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

// write replaces a file, whole or not at all.
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
	return f.root.Rename(temporary, name)
}

// NewLink returns an address, relative to the service, that signs in once.
func (f *Folder) NewLink() (*url.URL, error) {
	if err := f.dropLinks(); err != nil {
		return nil, err
	}
	token := rand.Text() + rand.Text()
	end := f.now().Add(LinkLife).UTC().Format(time.RFC3339)
	if err := f.write(linkFile(token), []byte(end)); err != nil {
		return nil, err
	}
	return &url.URL{Path: Root + "/sign-in", RawQuery: url.Values{"token": {token}}.Encode()}, nil
}

func linkFile(token string) string { return path.Join(links, digest(token)) }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// dropLinks forgets the links that ended.
func (f *Folder) dropLinks() error {
	names, err := fs.ReadDir(f.root.FS(), links)
	for _, entry := range names {
		name := path.Join(links, entry.Name())
		if !f.good(name) {
			err = errors.Join(err, ignore(f.root.Remove(name), fs.ErrNotExist))
		}
	}
	return err
}

// good tells whether the file is of a link that has not ended.
func (f *Folder) good(name string) bool {
	b, err := f.root.ReadFile(name)
	if err != nil {
		return false
	}
	end, err := time.Parse(time.RFC3339, string(b))
	return err == nil && f.now().Before(end)
}

// Identify implements SignIn: the call names the token of a link. The file of a
// link can be removed once, whoever tries at the same time. A HEAD, which looks
// what a link leads to, doesn't use it.
func (f *Folder) Identify(_ http.ResponseWriter, r *http.Request) (Person, bool, error) {
	token := r.URL.Query().Get("token")
	if token == "" || r.Method != http.MethodGet {
		return Person{}, false, refused("")
	}
	name := linkFile(token)
	good := f.good(name)
	err := f.root.Remove(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !good:
		return Person{}, false, refused("This link was used already, or is older than 10 minutes.")
	case err != nil:
		return Person{}, false, fmt.Errorf("sign in: %w", err)
	}
	return Person{Account: f.account, Name: f.account}, false, nil
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

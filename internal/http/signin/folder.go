package signin

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

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
)

// LinkLife is the time for which an unused sign-in link works.
const LinkLife = 10 * time.Minute

// Folder is the sign-in of one machine. A person who can write to the folder can make a link that
// works once, and sign in with it. Several processes may use the folder at a time.
type Folder struct {
	root *os.Root
	now  func() time.Time
}

// signInPath is the path of the page to sign in, which the links name, after the deployment's prefix.
const signInPath = "/dashboard/sign-in"

// Names in the folder.
const (
	secretFile = "secret"   // encrypts cookies
	links      = "links"    // a file for each link: SHA-256 of its token, a dot, and when it ends, in seconds since 1970. It has the account, and on a second line the name of an invited person
	people     = "people"   // a file for each person whom an owner invited, with the Person
	ended      = "sessions" // a file for each account whose sessions were ended, with their generation
)

// OpenFolder opens the folder at dir, and makes it if it is missing.
func OpenFolder(dir string, now func() time.Time) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(root.MkdirAll(links, 0o700), root.MkdirAll(ended, 0o700), root.MkdirAll(people, 0o700)); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Folder{root, now}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Secret returns the secret that encrypts the cookies. At the first call it makes the secret.
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

// write replaces a file, completely or not at all. After it returned, a power cut doesn't bring the
// old content back.
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

// sync syncs a folder, so that the names in it outlive a power cut.
func (f *Folder) sync(dir string) error {
	d, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// NewLink returns a link, relative to the service's address, that signs in once. Who does so sees the requests of the account.
func (f *Folder) NewLink(account string) (*url.URL, error) {
	if !order.ValidName(account) {
		return nil, failure.New(failure.Invalid, "account must be 1 to 255 characters with no control characters")
	}
	return f.newLink(account, LinkLife)
}

// newLink returns a link for whom the content says, which works once within its life.
func (f *Folder) newLink(content string, life time.Duration) (*url.URL, error) {
	if err := f.dropLinks(); err != nil {
		return nil, err
	}
	token := rand.Text() + rand.Text()
	name := fmt.Sprintf("%s.%d", digest(token), f.now().Add(life).Unix())
	if err := f.root.WriteFile(path.Join(links, name), []byte(content), 0o600); err != nil {
		return nil, err
	}
	return &url.URL{Path: signInPath, RawQuery: url.Values{"token": {token}}.Encode()}, nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// dropLinks removes the links that ended.
func (f *Folder) dropLinks() error {
	entries, err := fs.ReadDir(f.root.FS(), links)
	for _, entry := range entries {
		if !f.good(entry.Name()) {
			err = errors.Join(err, ignore(f.root.Remove(path.Join(links, entry.Name())), fs.ErrNotExist))
		}
	}
	return err
}

// good reports whether the file belongs to a link that has not ended.
func (f *Folder) good(name string) bool {
	_, text, _ := strings.Cut(name, ".")
	end, err := strconv.ParseInt(text, 10, 64)
	return err == nil && f.now().Before(time.Unix(end, 0))
}

var _ SignIn = (*Folder)(nil)

// Identify returns the person of a link, whose token the call has.
func (f *Folder) Identify(_ http.ResponseWriter, r *http.Request) (Person, bool, error) {
	token := r.FormValue("token")
	if token == "" {
		return Person{}, false, Refused("")
	}
	use := r.Method == http.MethodPost
	content, err := f.readLink(digest(token), use)
	if err != nil {
		return Person{}, false, fmt.Errorf("sign in: %w", err)
	}
	if content == "" {
		return Person{}, false, Refused("This link was used already, or is too old.")
	}
	account, name, invited := parseInvited(content)
	who := Person{Account: account, Name: account}
	if invited {
		who, err = f.person(account, name)
	}
	if err == nil && !use {
		err = ErrOpened
	}
	return who, false, err
}

// Confirm returns the person as the folder has them now. Who may write to the folder may still make a link; an invited person must not have been removed.
func (f *Folder) Confirm(_ context.Context, who Person) (Person, error) {
	if who.Role == "" {
		return who, nil
	}
	return f.person(who.Account, who.Name)
}

// SignOutURL returns nil, since there is no provider.
func (f *Folder) SignOutURL() *url.URL { return nil }

// readLink returns for whom a link with the digest is, "" if it doesn't work, and ends it by its use. If several processes use it at the same
// time, only one of them can remove the link's file.
func (f *Folder) readLink(digest string, use bool) (content string, err error) {
	entries, err := fs.ReadDir(f.root.FS(), links)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), digest+".") && f.good(entry.Name()) {
			name := path.Join(links, entry.Name())
			of, err := f.root.ReadFile(name)
			if err == nil && use {
				err = errors.Join(f.root.Remove(name), f.sync(links)) // otherwise the link could be used again after a power cut
			}
			if err != nil {
				return "", ignore(err, fs.ErrNotExist)
			}
			return string(of), nil
		}
	}
	return "", err
}

var _ Sessions = (*Folder)(nil)

func (f *Folder) Generation(_ context.Context, account string) (string, error) {
	b, err := f.root.ReadFile(path.Join(ended, digest(account)))
	return string(b), ignore(err, fs.ErrNotExist)
}

func (f *Folder) EndAll(_ context.Context, account string) error {
	return f.write(path.Join(ended, digest(account)), []byte(rand.Text()))
}

// ignore returns nil for an error that does no harm, and otherwise the error.
func ignore(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}

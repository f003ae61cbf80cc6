package disk

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

// Prefix is the beginning of the paths of signed URLs, which Handler serves.
const Prefix = "/objects/"

// secretFile is the name of the file with the key of all signatures.
const secretFile = "secret"

// openSecret reads the secret, and creates it the first time.
func (o *Objects) openSecret() ([]byte, error) {
	secret, err := o.root.ReadFile(secretFile)
	if errors.Is(err, fs.ErrNotExist) {
		// Another process may have created it first, and even cleaned up since.
		made := o.makeSecret()
		if secret, err = o.root.ReadFile(secretFile); err != nil {
			return nil, errors.Join(made, err)
		}
	}
	if err == nil && len(secret) < sha256.Size {
		err = errors.New("the file of the signing secret is damaged: delete it to get a new one")
	}
	return secret, err
}

// makeSecret creates the secret's file, whole or not at all. It fails if another process was
// first.
func (o *Objects) makeSecret() error {
	secret := make([]byte, sha256.Size)
	rand.Read(secret) // never fails
	temporary := path.Join(partial, randomName())
	err := o.write(context.Background(), temporary, bytes.NewReader(secret), sha256.Size)
	if err == nil {
		err = o.root.Link(temporary, secretFile)
	}
	return errors.Join(err, o.root.Remove(temporary), o.sync("."))
}

func randomName() string { return rand.Text() }

func (o *Objects) SignGet(_ context.Context, key, name string, until time.Time) (*url.URL, error) {
	return o.sign(http.MethodGet, key, until, url.Values{"name": {name}})
}

func (o *Objects) SignPut(_ context.Context, key string, size int64, contentType string, until time.Time) (*url.URL, http.Header, error) {
	u, err := o.sign(http.MethodPut, key, until, url.Values{
		"size": {strconv.FormatInt(size, 10)},
		"type": {contentType},
	})
	headers := http.Header{}
	if contentType != "" {
		headers.Set("Content-Type", contentType)
	}
	return u, headers, err
}

// sign returns a URL of the object that is valid for the method, until the time, and with exactly
// these parameters.
func (o *Objects) sign(method, key string, until time.Time, query url.Values) (*url.URL, error) {
	if _, err := fileOf(key); err != nil {
		return nil, err
	}
	query.Set("expires", strconv.FormatInt(until.Unix(), 10))
	query.Set("signature", o.signature(method, key, query))
	return &url.URL{Path: Prefix + key, RawQuery: query.Encode()}, nil
}

// signature signs the method, the key and all parameters except the signature itself.
func (o *Objects) signature(method, key string, query url.Values) string {
	signed := make(url.Values, len(query))
	for name, values := range query {
		if name != "signature" {
			signed[name] = values
		}
	}
	mac := hmac.New(sha256.New, o.secret)
	// Neither a method nor an escaped key has a line break.
	mac.Write([]byte(strings.Join([]string{method, url.PathEscape(key), signed.Encode()}, "\n")))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// verify returns the parameters of a URL that this service signed for the method. Otherwise it
// returns a sentence for the client that says why it is refused.
func (o *Objects) verify(method, key string, u *url.URL) (query url.Values, refused string) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || !hmac.Equal([]byte(query.Get("signature")), []byte(o.signature(method, key, query))) {
		return nil, "the link is not valid"
	}
	expires, err := strconv.ParseInt(query.Get("expires"), 10, 64)
	if err != nil || !o.now().Before(time.Unix(expires, 0)) {
		return nil, "the link has expired"
	}
	return query, ""
}

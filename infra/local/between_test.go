package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
)

// between stands between a program and the emulator, and makes faults.
type between struct {
	*httptest.Server

	mu    sync.Mutex
	fault fault
}

// fault decides what becomes of a call. The operation is what the call does, such
// as "UpdateItem" or "PUT /bucket/key"; pass sends it on and gives the answer, as
// it comes, to the program. A fault that returns without pass drops the
// connection; so does one that asks for it after pass.
type fault func(operation string, w http.ResponseWriter, r *http.Request, pass func(http.ResponseWriter))

// newBetween makes no faults at first.
func newBetween(endpoint string) *between {
	target, err := url.Parse(endpoint)
	if err != nil {
		panic(err) // the emulator's own
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // which is signed
		},
		ErrorLog: log.New(io.Discard, "", 0), // programs that were killed
	}
	b := new(between)
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := b.current()
		if f == nil {
			proxy.ServeHTTP(w, r)
			return
		}
		f(operation(r), w, r, func(w http.ResponseWriter) { proxy.ServeHTTP(w, r) })
	}))
	return b
}

func operation(r *http.Request) string {
	if _, name, ok := strings.Cut(r.Header.Get("X-Amz-Target"), "."); ok {
		return name
	}
	return r.Method + " " + r.URL.Path
}

func (b *between) current() fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fault
}

// set makes the faults of f from now on; nil makes none.
func (b *between) set(f fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = f
}

// drop ends the connection with no answer.
func drop() { panic(http.ErrAbortHandler) }

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
)

// between is a proxy between a program and the emulator that makes faults.
type between struct {
	*httptest.Server

	mu    sync.Mutex
	fault fault
}

// fault handles a call in place of the proxy. The operation is such as "UpdateItem",
// "PUT /bucket/key", or "broker claim" for a runner's call of the broker. pass forwards the call, and gives the answer to the program as it arrives. A
// fault that returns without pass drops the connection; after pass, it may call drop.
type fault func(operation string, w http.ResponseWriter, r *http.Request, pass func(http.ResponseWriter))

// newBetween returns a proxy that makes no faults at first.
func newBetween(endpoint string) *between {
	target, err := url.Parse(endpoint)
	if err != nil {
		panic(err) // the emulator's own URL
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // which is signed
		},
		ErrorLog: log.New(io.Discard, "", 0), // about programs that were killed
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
	if strings.HasSuffix(r.URL.Path, "/invocations") {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return ""
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		var call struct{ Do string }
		if json.Unmarshal(text, &call) == nil && call.Do != "" {
			return "broker " + call.Do
		}
	}
	return r.Method + " " + r.URL.Path
}

func (b *between) current() fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fault
}

// set makes f's faults from now on; nil makes none.
func (b *between) set(f fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = f
}

// drop closes the connection without an answer.
func drop() { panic(http.ErrAbortHandler) }

package dashboard

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// fuzzCaller returns a function that calls the dashboard without a connection, as a browser that is
// signed in. It returns the answer and the log of the call.
func (f *fixture) fuzzCaller(tb testing.TB) func(r *http.Request) (w *httptest.ResponseRecorder, log string) {
	f.service.GenerateRate, f.service.ReadRate = 1<<30, 1<<30
	f.signIn(tb)
	cookies, handler := f.browser.Jar.Cookies(f.address(tb, "/dashboard")), f.handler(tb)
	return func(r *http.Request) (*httptest.ResponseRecorder, string) {
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		log := f.log.String()
		f.log.Reset()
		return w, log
	}
}

// FuzzPages opens paths and queries as a person who is signed in. Each gets a page or a redirect, and no
// page has a script from the path or query.
func FuzzPages(f *testing.F) {
	for _, seed := range [][2]string{
		{"", "status=failed&reference_id=<script>x&place=3"}, {"/requests/<script>x", ""}, {"/settings/keys/../../x/revoke", "a=%zz"},
		{"/requests/%3Cscript%3Ex", ""}, {"/static/%00", ""}, {"/usage", "offset=-1"}, {"/api/", ""}, {"//x.example/", ""}, {"/sign-in", "token=a"},
	} {
		f.Add(seed[0], seed[1])
	}
	fx := newFixture(f)
	call := fx.fuzzCaller(f)
	f.Fuzz(func(t *testing.T, path, query string) {
		address, err := url.ParseRequestURI("/dashboard" + path + "?" + query)
		if err != nil {
			t.Skip("no address that net/http hands on")
		}
		r := httptest.NewRequest(http.MethodGet, fx.URL, nil)
		r.URL, r.RequestURI = address, address.RequestURI()
		w, log := call(r)
		if w.Code < 200 || w.Code >= 500 || strings.Contains(w.Body.String(), "<script>x") {
			t.Errorf("%q ? %q: got %d %.200s, log %s", path, query, w.Code, w.Body, log)
		}
		if to := w.Header().Get("Location"); to != "" && (to[0] != '/' || strings.HasPrefix(to, "//")) {
			t.Errorf("%q ? %q: leads to %q", path, query, to)
		}
	})
}

// FuzzChange sends forms without the session's token, with any headers for their origin. They change
// nothing.
func FuzzChange(f *testing.F) {
	for _, seed := range [][4]string{
		{"", "https://evil.example", "cross-site", "application/x-www-form-urlencoded"}, {"&csrf=x&csrf=y", "", "same-origin", "text/plain"},
		{"%zz", "null", "none", "multipart/form-data; boundary=a"}, {"csrf", "x", "", "application/x-www-form-urlencoded; charset=\xff"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	fx := newFixture(f)
	call := fx.fuzzCaller(f)
	f.Fuzz(func(t *testing.T, form, origin, site, contentType string) {
		r := httptest.NewRequest(http.MethodPost, fx.URL+"/dashboard/settings/keys", strings.NewReader("name=evil&"+form))
		for name, value := range map[string]string{"Origin": origin, "Sec-Fetch-Site": site, "Content-Type": contentType} {
			r.Header.Set(name, value)
		}
		if w, log := call(r); w.Code < 400 || w.Code >= 500 {
			t.Errorf("%q from %q, %q: got %d %.200s, log %s", form, origin, site, w.Code, w.Body, log)
		}
	})
}

// FuzzToken checks that only the token of a link signs in.
func FuzzToken(f *testing.F) {
	for _, query := range []string{"token=", "token=../x", "token=%00", "token=a&token=b", "%zz", ";"} {
		f.Add(query)
	}
	fx := newFixture(f)
	fx.newLink(f)
	handler := fx.handler(f)
	f.Fuzz(func(t *testing.T, query string) {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := httptest.NewRequest(method, fx.URL+"/dashboard/sign-in", nil)
			r.URL.RawQuery = query
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			fx.log.Reset()
			if w.Code != http.StatusForbidden || w.Header().Get("Set-Cookie") != "" {
				t.Errorf("%s %q: got %d and the cookie %q", method, query, w.Code, w.Header().Get("Set-Cookie"))
			}
		}
	})
}

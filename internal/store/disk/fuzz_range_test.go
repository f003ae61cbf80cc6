package disk_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// FuzzRange asks for any part of an object, on any condition. The answer must be that part, the
// whole object, or a correct refusal.
func FuzzRange(f *testing.F) {
	const content = "abcdefghijklmnopqrstuvwxyz"
	objects := open(f, f.TempDir(), time.Now)
	if err := objects.Put(context.Background(), "a", strings.NewReader(content), -1); err != nil {
		f.Fatal(err)
	}
	address, err := objects.SignGet(context.Background(), "a", "name.mp4", time.Now().Add(24*time.Hour))
	if err != nil {
		f.Fatal(err)
	}
	past, future := "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 2094 08:49:37 GMT"
	for _, seed := range [][4]string{
		{"bytes=0-0", "", "", ""}, {"bytes=-0", "", "", ""}, {"bytes=-5,0-3", past, "*", future}, {"bytes=20-99", future, `"a"`, past}, {"bytes=99-", "", "", ""},
		{"bytes=" + strings.Repeat("0-,", 100), "", "", ""}, {"bytes=9223372036854775807-9223372036854775807", "", "", ""}, {"units=1-2", `W/"`, ",", "x"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, part, ifRange, ifMatch, since string) {
		r := httptest.NewRequest(http.MethodGet, address.String(), nil)
		for name, value := range map[string]string{
			"Range": part, "If-Range": ifRange, "If-Match": ifMatch, "If-None-Match": ifMatch, "If-Modified-Since": since, "If-Unmodified-Since": since,
		} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		objects.Handler().ServeHTTP(w, r)
		body, header := w.Body.String(), w.Header()
		switch w.Code {
		case http.StatusOK:
			if body != content {
				t.Errorf("%q: got %q, want all", r.Header, body)
			}
		case http.StatusPartialContent:
			var from, to, size int
			n, _ := fmt.Sscanf(header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &size)
			if several := strings.HasPrefix(header.Get("Content-Type"), "multipart/byteranges"); n == 0 && several {
				return
			}
			// net/http answers a range of the last 0 bytes with an empty part.
			if n != 3 || size != len(content) || from > to+1 || to >= size || body != content[from:to+1] {
				t.Errorf("%q: got %q as %q", r.Header, body, header.Get("Content-Range"))
			}
		case http.StatusNotModified, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable:
			if strings.Contains(body, content[:3]) {
				t.Errorf("%q: got %d with %q", r.Header, w.Code, body)
			}
		default:
			t.Errorf("%q: got %d %q", r.Header, w.Code, body)
		}
	})
}

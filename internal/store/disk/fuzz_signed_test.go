package disk_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
)

// FuzzSigned changes the parameters of a signed URL. Only those that were signed may open the
// object.
func FuzzSigned(f *testing.F) {
	objects := open(f, f.TempDir(), time.Now)
	if err := objects.Put(context.Background(), "a", strings.NewReader("secret text"), -1); err != nil {
		f.Fatal(err)
	}
	good, err := objects.SignGet(context.Background(), "a", "name.mp4", time.Now().Add(24*time.Hour))
	if err != nil {
		f.Fatal(err)
	}
	signed := good.Query()
	for _, change := range []string{"", "&name=x", "&expires=99999999999", "&signature=", "&signature=%00", "&more=1", ";"} {
		f.Add(change, 0)
		f.Add(change, len(good.RawQuery)/2)
	}
	f.Fuzz(func(t *testing.T, change string, cut int) {
		cut = min(max(cut, 0), len(good.RawQuery))
		query := good.RawQuery[:len(good.RawQuery)-cut] + change
		r := httptest.NewRequest(http.MethodGet, "/objects/a", nil)
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		objects.Handler().ServeHTTP(w, r)
		sent, err := url.ParseQuery(query)
		if same := err == nil && sameSigned(sent, signed); (w.Code == http.StatusOK) != same {
			t.Errorf("%q: got %d, and it is what was signed: %t", query, w.Code, same)
		}
	})
}

// sameSigned compares parameters. Only the first signature counts.
func sameSigned(a, b url.Values) bool {
	if a.Get("signature") != b.Get("signature") {
		return false
	}
	strip := func(v url.Values) url.Values {
		rest := url.Values{}
		for name, values := range v {
			if name != "signature" {
				rest[name] = values
			}
		}
		return rest
	}
	return reflect.DeepEqual(strip(a), strip(b))
}

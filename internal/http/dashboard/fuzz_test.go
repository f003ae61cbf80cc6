package dashboard

import (
	"lipsync/internal/http/signin"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// FuzzFilter parses the address of a list, makes the address of another page of that list, and parses
// that address.
func FuzzFilter(f *testing.F) {
	for _, query := range []string{"", "status=failed&place=7", "reference_id=%00&offset=25", "status=x&offset=-1&place=99999999999999999999", "%"} {
		f.Add(query, int64(1))
	}
	f.Fuzz(func(t *testing.T, query string, n int64) {
		values, _ := url.ParseQuery(query)
		got := readFilter(values)
		if got.Offset < 0 {
			t.Fatalf("got %+v", got)
		}
		address, err := url.Parse(got.page("offset", strconv.FormatInt(n, 10)))
		if err != nil || address.Path != "" || address.Host != "" {
			t.Fatalf("got %v, %v", address, err)
		}
		again := readFilter(address.Query())
		if again.Status != got.Status || again.Reference != got.Reference || again.Offset != max(0, n) {
			t.Errorf("got %+v, want another page of %+v", again, got)
		}
	})
}

// FuzzCookie opens cookies that no Sealer made, and one that it made.
func FuzzCookie(f *testing.F) {
	s, err := signin.NewSealer([32]byte{7}, sessionCookie)
	if err != nil {
		f.Fatal(err)
	}
	good, err := s.Seal(session{Person: signin.Person{Account: account}})
	if err != nil {
		f.Fatal(err)
	}
	for _, value := range []string{"", "x", good, good + "A", strings.ToUpper(good)} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		var got session
		if err := s.Open(value, &got); err != nil && got != (session{}) || err == nil && got.Account != account {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

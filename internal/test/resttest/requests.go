package resttest

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// request is a lip sync request, as clients see it.
type request struct {
	ID           string `json:"id"`
	CreatedAt    string `json:"created_at"`
	Status       string `json:"status"`
	ErrorMessage string `json:"error_message"`
	FinishedAt   string `json:"finished_at"`
	OutputURL    string `json:"output_url"`
	ReferenceID  string `json:"reference_id"`
	StartedAt    string `json:"started_at"`
}

// page is one page of requests.
type page struct {
	Data       []request `json:"data"`
	Pagination struct {
		Limit      int     `json:"limit"`
		Offset     int     `json:"offset"`
		Total      int     `json:"total"`
		NextCursor *string `json:"next_cursor"`
	} `json:"pagination"`
}

// requestPath returns the path of a request. It also escapes the dots of the id, since clients and
// servers remove segments such as ".." from paths.
func requestPath(id string) string {
	return "/v1/lipsync/requests/" + strings.ReplaceAll(url.PathEscape(id), ".", "%2E")
}

func (s *suite) read(t *testing.T, token, id string) (r request) {
	t.Helper()
	s.get(t, token, requestPath(id)).into(t, &r)
	return r
}

func (s *suite) page(t *testing.T, token, query string) (p page) {
	t.Helper()
	s.get(t, token, "/v1/lipsync/requests"+query).into(t, &p)
	return p
}

func (s *suite) request(t *testing.T) {
	t.Run("fields", s.requestFields)
	t.Run("unknown", func(t *testing.T) {
		token := s.key(t)
		s.start(t, token)
		for _, id := range []string{
			"x", "00000000-0000-4000-8000-000000000000", "..", "../..", ".", "a/b", "%", "\x00", "\xff", " ", "é",
			strings.Repeat("x", 256), strings.Repeat("x", 4000), "' OR 1=1 --",
		} {
			s.get(t, token, requestPath(id)).refused(t, http.StatusNotFound, "lipsync request not found")
		}
	})
	t.Run("references", s.references)
	t.Run("newest", func(t *testing.T) {
		token := s.key(t)
		s.start(t, token, reference("twice"))
		want := s.start(t, token, reference("twice"))
		if got := s.read(t, token, "twice").ID; got != want {
			t.Errorf("got %s, want the newest, %s", got, want)
		}
	})
	t.Run("id before reference", func(t *testing.T) {
		token := s.key(t)
		want := s.start(t, token)
		s.start(t, token, reference(want))
		if got := s.read(t, token, want).ID; got != want {
			t.Errorf("got %s, want the request of that id, %s", got, want)
		}
	})
}

func (s *suite) requestFields(t *testing.T) {
	token := s.key(t)
	before := time.Now().Add(-time.Minute) // clocks differ a little
	id := s.start(t, token, reference("order 7"))
	got := s.read(t, token, id)
	if got.ID != id || got.ReferenceID != "order 7" {
		t.Errorf("got %+v, want id %s and reference order 7", got, id)
	}
	created, err := time.Parse(time.RFC3339, got.CreatedAt)
	if err != nil || !strings.HasSuffix(got.CreatedAt, "Z") || created.Before(before) {
		t.Errorf("got created_at %s (%v), want now, in UTC", got.CreatedAt, err)
	}
	checkState(t, got)
	if raw := s.get(t, token, requestPath(s.start(t, token))).body; strings.Contains(string(raw), "reference_id") {
		t.Errorf("got %s, want no reference_id where none was given", raw)
	}
}

// checkState checks that a request has the fields of its status and no others.
func checkState(t *testing.T, r request) {
	t.Helper()
	final := r.Status == "completed" || r.Status == "failed"
	for _, check := range []struct {
		field, value string
		want         bool
	}{
		{"started_at", r.StartedAt, r.Status != "queued"},
		{"finished_at", r.FinishedAt, final},
		{"output_url", r.OutputURL, r.Status == "completed"},
		{"error_message", r.ErrorMessage, r.Status == "failed"},
	} {
		if got := check.value != ""; got != check.want {
			t.Errorf("%s: got %s %q, want it there: %t", r.Status, check.field, check.value, check.want)
		}
	}
	if !final && r.Status != "queued" && r.Status != "processing" {
		t.Errorf("got status %q", r.Status)
	}
}

func (s *suite) references(t *testing.T) {
	token := s.key(t)
	for _, ref := range []string{
		"a/b", "..", ".", "../..", "a/../b", "%2F", "%", "a b", "a+b", "a?b=c#d", "é 漢 😀", "\t", "\\", "a;b", "~", ":", "*", "{id}",
		"health", strings.Repeat("漢", 255),
	} {
		want := s.start(t, token, reference(ref))
		if got := s.read(t, token, ref); got.ID != want || got.ReferenceID != ref {
			t.Errorf("reference %q: got %s, %q, want %s", ref, got.ID, got.ReferenceID, want)
		}
		p := s.page(t, token, "?reference_id="+url.QueryEscape(ref))
		if len(p.Data) != 1 || p.Data[0].ID != want || p.Pagination.Total != 1 {
			t.Errorf("list of reference %q: got %+v, want %s alone", ref, p, want)
		}
	}
}

func (s *suite) list(t *testing.T) {
	t.Run("empty", func(t *testing.T) {
		got := s.get(t, s.key(t), "/v1/lipsync/requests")
		want := `{"data":[],"pagination":{"limit":20,"offset":0,"total":0}}`
		if strings.TrimSpace(string(got.body)) != want {
			t.Errorf("got %s, want %s", got.body, want)
		}
	})
	t.Run("pages", s.pages)
	t.Run("statuses", s.statuses)
	t.Run("bounds", s.listBounds)
	t.Run("cursors", s.cursors)
	t.Run("unchanged", s.unchanged)
}

// statuses checks that a list of one status has only the requests with that status.
func (s *suite) statuses(t *testing.T) {
	token := s.key(t)
	var ended []string // canceled, newest first
	for n := range 5 {
		ended = slices.Insert(ended, 0, s.doomed(t, token, fmt.Sprint(n%2)).ID)
	}
	for _, r := range s.page(t, token, "?status=failed").Data {
		if slices.Contains(ended, r.ID) {
			t.Errorf("%s was canceled, and is listed among those that failed", r.ID)
		}
	}
	for _, row := range []struct {
		query string
		total int
		want  []string
	}{
		{"?status=canceled", 5, ended},
		{"?status=canceled&limit=2", 5, ended[:2]},
		{"?status=canceled&limit=2&offset=3", 5, ended[3:]},
		{"?status=canceled&offset=5", 5, nil},
		{"?status=canceled&offset=9007199254740991", 5, nil},
		{"?status=canceled&reference_id=1", 2, []string{ended[1], ended[3]}},
		{"?status=canceled&reference_id=none", 0, nil},
	} {
		p := s.page(t, token, row.query)
		var got []string
		for _, r := range p.Data {
			got = append(got, r.ID)
			checkState(t, r)
		}
		if !slices.Equal(got, row.want) || p.Pagination.Total != row.total {
			t.Errorf("%s: got %v of %d, want %v of %d", row.query, got, p.Pagination.Total, row.want, row.total)
		}
	}
	other, found := s.start(t, token), 0
	for _, status := range []string{"queued", "processing", "completed", "failed"} { // a worker may have claimed the request, or ended it
		for _, r := range s.page(t, token, "?status="+status).Data {
			if r.ID == other {
				found++
			}
		}
	}
	if found == 0 {
		t.Errorf("request %s is in no list of a status", other)
	}
}

func (s *suite) pages(t *testing.T) {
	token := s.key(t)
	var made []string // newest first
	for n := range 23 {
		made = slices.Insert(made, 0, s.start(t, token, reference(fmt.Sprint(n%2))))
	}
	var odd []string
	for i := 1; i < len(made); i += 2 {
		odd = append(odd, made[i])
	}
	for _, row := range []struct {
		query              string
		limit, offset, all int
		want               []string
	}{
		{"", 20, 0, 23, made[:20]},
		{"?limit=5", 5, 0, 23, made[:5]},
		{"?limit=100", 100, 0, 23, made},
		{"?offset=20", 20, 20, 23, made[20:]},
		{"?limit=3&offset=4", 3, 4, 23, made[4:7]},
		{"?offset=23", 20, 23, 23, nil},
		{"?offset=9007199254740991", 20, 9007199254740991, 23, nil},
		{"?reference_id=1", 20, 0, 11, odd},
		{"?reference_id=1&limit=2&offset=9", 2, 9, 11, odd[9:]},
		{"?reference_id=none", 20, 0, 0, nil},
		{"?other=1&limit=1", 1, 0, 23, made[:1]},
	} {
		t.Run(row.query, func(t *testing.T) {
			p := s.page(t, token, row.query)
			var got []string
			for _, r := range p.Data {
				got = append(got, r.ID)
				checkState(t, r)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("got %v, want %v", got, row.want)
			}
			if got := p.Pagination; got.Limit != row.limit || got.Offset != row.offset || got.Total != row.all {
				t.Errorf("got %+v, want limit %d, offset %d, total %d", got, row.limit, row.offset, row.all)
			}
		})
	}
}

// cursors goes through a list by cursors while requests are made.
func (s *suite) cursors(t *testing.T) {
	token := s.key(t)
	var made []string // newest first
	for n := range 5 {
		made = slices.Insert(made, 0, s.start(t, token, reference(fmt.Sprint(n%2))))
	}
	for filter, want := range map[string][]string{"": made, "&reference_id=0": {made[0], made[2], made[4]}} {
		var got []string
		for cursor, pages := "", 0; ; pages++ {
			p := s.page(t, token, "?limit=2"+filter+"&cursor="+cursor)
			if p.Pagination.Limit != 2 || p.Pagination.NextCursor == nil {
				t.Fatalf("got %+v, want the limit and a cursor", p.Pagination)
			}
			for _, r := range p.Data {
				if slices.Contains(made, r.ID) {
					got = append(got, r.ID)
				}
			}
			if cursor = *p.Pagination.NextCursor; cursor == "" || pages > len(made) {
				break
			}
			s.start(t, token, reference("0"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", filter, got, want)
		}
	}
	other := *s.page(t, token, "?limit=1&cursor=").Pagination.NextCursor
	var rows []row
	for _, query := range []string{"cursor=x", "cursor=" + other + "&reference_id=0", "cursor=" + other + "&status=failed", "cursor=&offset=1", "cursor=&cursor=", "cursor=%FF"} {
		rows = append(rows, row{query, call{method: http.MethodGet, path: "/v1/lipsync/requests?" + query, token: token}, 400,
			"cursor must be empty, or the next_cursor of a page with the same reference_id and status; it takes no offset"})
	}
	s.table(t, rows)
}

// unchanged reads answers twice, the second time with the tag of the first: those about a request and a webhook, and each of the document whose path
// names no thing.
func (s *suite) unchanged(t *testing.T) {
	token := s.key(t)
	id := s.start(t, token)
	s.do(t, call{method: http.MethodDelete, path: requestPath(id), token: token})
	still := s.key(t) // of an account without requests, whose deliveries would change
	hook := "/v1/webhooks/" + s.newWebhook(t, still, "https://example.com/unchanged", "").ID
	paths := []string{requestPath(id), requestPath(id) + "/details", requestPath(id) + "/progress", hook, hook + "/deliveries"}
	for _, c := range s.protected(t) {
		if c.method == http.MethodGet && !strings.Contains(c.path+"/", "/x/") {
			paths = append(paths, c.path)
		}
	}
	if len(paths) < 10 {
		t.Errorf("got only the paths %q", paths)
	}
	for _, path := range paths {
		reader := token
		if strings.HasPrefix(path, hook) {
			reader = still
		}
		first := s.get(t, reader, path)
		again := call{method: http.MethodGet, path: path, token: reader, header: http.Header{"If-None-Match": {first.header.Get("ETag")}}}
		if got := s.do(t, again); first.status != http.StatusOK || got.status != http.StatusNotModified || len(got.body) > 0 {
			t.Errorf("%s: got %d and then %d with %d bytes, want 200 and 304", path, first.status, got.status, len(got.body))
		}
		if path != "/v1/lipsync/requests" {
			continue
		}
		s.start(t, token)
		if got := s.do(t, again); got.status != http.StatusOK {
			t.Errorf("a list with one more: got %d, want 200", got.status)
		}
	}
}

func (s *suite) listBounds(t *testing.T) {
	token := s.key(t)
	var rows []row
	refuse := func(message string, queries ...string) {
		for _, q := range queries {
			c := call{method: http.MethodGet, path: "/v1/lipsync/requests?" + q, token: token}
			rows = append(rows, row{fmt.Sprintf("%.40s", q), c, 400, message})
		}
	}
	refuse("limit must be one whole number from 1 to 100",
		"limit=0", "limit=101", "limit=-1", "limit=", "limit=x", "limit=1.5", "limit=1e1", "limit=0x10", "limit=%2B5", "limit=1_0",
		"limit=99999999999999999999", "limit=1&limit=1", "limit=%00", "limit=٣")
	refuse("offset must be one whole number from 0 to 9007199254740991",
		"offset=-1", "offset=", "offset=x", "offset=0.5", "offset=9007199254740992", "offset=99999999999999999999", "offset=1&offset=2", "offset=-0")
	refuse("reference_id must be 1 to 255 characters",
		"reference_id=", "reference_id=a&reference_id=b", "reference_id=%FF", "reference_id="+strings.Repeat("x", 256))
	refuse("status must be one of: queued, processing, completed, failed, canceled",
		"status=", "status=done", "status=Failed", "status=queued&status=failed", "status=%FF")
	refuse("invalid query string", "limit=%zz", "a;b")
	s.values(t, rows)
}

// notFound makes calls about requests that a token's account doesn't have.
func (s *suite) notFound(t *testing.T, about func(token, name string) call, token string, names ...string) {
	t.Helper()
	for _, name := range names {
		s.do(t, about(token, name)).refused(t, http.StatusNotFound, "lipsync request not found")
	}
}

// accounts checks that the requests of an account exist for all its keys, and for no key of another
// account.
func (s *suite) accounts(t *testing.T) {
	account := rand.Text()
	mine, alsoMine, other := s.keyOf(t, account, 0), s.keyOf(t, account, 0), s.key(t)
	id := s.start(t, mine, reference("mine"))
	if got := s.read(t, alsoMine, "mine").ID; got != id {
		t.Errorf("other key of the account: got %s, want %s", got, id)
	}
	for _, name := range []string{id, "mine"} {
		s.get(t, other, requestPath(name)).refused(t, http.StatusNotFound, "lipsync request not found")
	}
	if p := s.page(t, other, "?reference_id=mine"); len(p.Data) != 0 || p.Pagination.Total != 0 {
		t.Errorf("other account's list: got %+v, want none", p)
	}
	theirs := s.start(t, other, reference(id))
	if got := s.read(t, other, id).ID; got != theirs {
		t.Errorf("a reference that is another account's id: got %s, want %s", got, theirs)
	}
}

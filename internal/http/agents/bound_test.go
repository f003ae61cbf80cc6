package agents

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"lipsync/internal/test/clienttest"
)

// call returns a call of create_batch with the variants, in JSON.
func call(variants string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_batch","arguments":{"variants":[` + variants + `]}}}`
}

func post(t *testing.T, s *clienttest.Service, h http.Handler, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(t.Context(), "POST", Path, body)
	r.Header.Set("Authorization", "Bearer "+s.Key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestManyValues refuses a call with very many values in little memory.
func TestManyValues(t *testing.T) {
	s := clienttest.New(t)
	h := Handler(s.API, Options{Whole: true})
	const variant = `{"audio":""}`
	for _, c := range []struct {
		name  string
		n     int
		most  uint64 // bytes allocated
		want  int
		error string
	}{
		{"the largest body", mostBody/(len(variant)+1) - 20, 32 << 20, 413, "the call has more than 64000 values"},
		{"as many values as a call may have", mostValues/2 - 10, 96 << 20, 200, "a batch has 1 to 1000 lines"},
	} {
		body := call(strings.Repeat(variant+",", c.n) + variant)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := post(t, s, h, strings.NewReader(body))
		runtime.ReadMemStats(&after)
		if w.Code != c.want || !strings.Contains(w.Body.String(), c.error) {
			t.Errorf("%s: got %d %s, want %d with %q", c.name, w.Code, w.Body, c.want, c.error)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > c.most {
			t.Errorf("%s: %d MiB were allocated, want %d at most", c.name, allocated>>20, c.most>>20)
		} else {
			t.Logf("%s: %d MiB were allocated", c.name, allocated>>20)
		}
	}
	if w := post(t, s, h, strings.NewReader(strings.Repeat(" ", mostBody+1))); w.Code != 413 {
		t.Errorf("got %d %s for a body that is too large", w.Code, w.Body)
	}
}

// TestLargeCalls sends more large calls at a time than are handled. The last one has to be sent again, and a small one passes.
func TestLargeCalls(t *testing.T) {
	s := clienttest.New(t)
	h := Handler(s.API, Options{Whole: true})
	codes := make(chan int, largeCalls)
	var bodies []*io.PipeWriter
	for range largeCalls {
		from, to := io.Pipe()
		bodies = append(bodies, to)
		go func() { codes <- post(t, s, h, from).Code }()
		_, _ = fmt.Fprint(to, " ") // it returns when the handler reads the body
	}
	large := strings.Repeat(" ", smallBody+1)
	if w := post(t, s, h, strings.NewReader(large)); w.Code != 429 || w.Header().Get("Retry-After") != "2" {
		t.Errorf("got %d %s, Retry-After %s", w.Code, w.Body, w.Header().Get("Retry-After"))
	}
	if w := post(t, s, h, strings.NewReader(call(""))); w.Code != 200 {
		t.Errorf("a small call: got %d %s", w.Code, w.Body)
	}
	for _, b := range bodies {
		_, _ = io.WriteString(b, call("")) // the error would be the handler's
		b.Close()
		if code := <-codes; code != 200 {
			t.Errorf("a large call: got %d", code)
		}
	}
	if w := post(t, s, h, strings.NewReader(large+call(""))); w.Code != 200 {
		t.Errorf("a large call after the others: got %d %s", w.Code, w.Body)
	}
}

// TestSlotsOfKeys has large calls of one key that come slowly, and others that are handled. A large call of another key passes.
func TestSlotsOfKeys(t *testing.T) {
	handled, end := make(chan bool), make(chan bool)
	h := bounded(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer bob" {
			handled <- true
			<-end
		}
	}))
	large := strings.Repeat(" ", smallBody+1)
	send := func(key string, body io.Reader) int {
		r := httptest.NewRequest("POST", Path, body)
		r.Header.Set("Authorization", "Bearer "+key)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	var bobs sync.WaitGroup
	for range largeOfKey {
		bobs.Go(func() { send("bob", strings.NewReader(large)) })
		<-handled
	}
	var bodies []*io.PipeWriter
	for range largeCalls {
		from, to := io.Pipe()
		bodies = append(bodies, to)
		bobs.Go(func() { send("bob", from) })
		_, _ = fmt.Fprint(to, " ")
	}
	if code := send("bob", strings.NewReader(large)); code != 429 {
		t.Errorf("another one of bob: got %d, want 429", code)
	}
	if code := send("alice", strings.NewReader(large)); code != 200 {
		t.Errorf("a large call of alice: got %d, want 200", code)
	}
	for _, b := range bodies {
		b.CloseWithError(io.ErrUnexpectedEOF)
	}
	close(end)
	bobs.Wait()
}

// TestSmallCalls checks that small calls of unknown length hold no slot of a large call while they are handled.
func TestSmallCalls(t *testing.T) {
	handled, end := make(chan bool), make(chan bool)
	h := bounded(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.ContentLength < 0 {
			handled <- true
			<-end
		}
	}))
	var small sync.WaitGroup
	for range largeCalls {
		small.Go(func() {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", Path, io.MultiReader(strings.NewReader("{}"))))
		})
	}
	for range largeCalls {
		<-handled
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", Path, strings.NewReader(strings.Repeat(" ", smallBody+1))))
	if w.Code != 200 {
		t.Errorf("a large call: got %d %s", w.Code, w.Body)
	}
	close(end)
	small.Wait()
}

// reading is a writer of an answer that notes the bounds of the time for reading the call.
type reading struct {
	*httptest.ResponseRecorder
	until []time.Time
}

func (r *reading) SetReadDeadline(t time.Time) error {
	r.until = append(r.until, t)
	return nil
}

// TestSlowCall bounds the time for reading a call. A call that was read may take longer to handle.
func TestSlowCall(t *testing.T) {
	h := bounded(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	w, before := &reading{ResponseRecorder: httptest.NewRecorder()}, time.Now()
	h.ServeHTTP(w, httptest.NewRequest("POST", Path, strings.NewReader("{}")))
	if len(w.until) != 2 || w.until[0].Before(before.Add(bodyTime)) || w.until[0].After(time.Now().Add(bodyTime)) || !w.until[1].IsZero() {
		t.Errorf("got the bounds %v, want %v and none", w.until, bodyTime)
	}
	w = &reading{ResponseRecorder: httptest.NewRecorder()}
	h.ServeHTTP(w, httptest.NewRequest("POST", Path, iotest.ErrReader(os.ErrDeadlineExceeded)))
	if len(w.until) != 1 || w.Code != 400 {
		t.Errorf("slow: got the bounds %v and %d, want that of the reading and 400", w.until, w.Code)
	}
}

// TestManyMessages refuses lists with very many messages, which would all be answered at once.
func TestManyMessages(t *testing.T) {
	s := clienttest.New(t)
	h := Handler(s.API, Options{Whole: true})
	list := func(n int) string {
		var messages []string
		for id := range n {
			messages = append(messages, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, id))
		}
		return " [" + strings.Join(messages, ",") + "]"
	}
	for _, c := range []struct{ n, want int }{{mostMessages, 200}, {mostMessages + 1, 413}, {1300, 413}, {15900, 413}} {
		body := list(c.n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := post(t, s, h, strings.NewReader(body))
		runtime.ReadMemStats(&after)
		if w.Code != c.want || c.want == 413 && w.Body.String() != "{\"error\":\"the call has more than 16 messages\"}\n" {
			t.Errorf("%d messages: got %d %.200s, want %d", c.n, w.Code, w.Body, c.want)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 32<<20 {
			t.Errorf("%d messages: %d MiB were allocated, want 32 at most", c.n, allocated>>20)
		} else {
			t.Logf("%d messages: %d MiB were allocated", c.n, allocated>>20)
		}
	}
}

// FuzzValues compares the bounds of the numbers of values and of messages with these numbers.
func FuzzValues(f *testing.F) {
	for _, text := range []string{`{"a": [1, {}, []], "b\",{": "c,\\"}`, call(`{"audio": ""}, {}`), `"`, `1`, `[[[]]]`, ` [{"a":[1,2]},{},3]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		bound, listed := values(text)
		var v any
		if json.Unmarshal(text, &v) != nil {
			return
		}
		if count(v) > bound {
			t.Errorf("%q has %d values, and the bound is %d", text, count(v), bound)
		}
		if list, ok := v.([]any); ok && max(len(list), 1) != listed || !ok && listed != 1 {
			t.Errorf("%q: got %d messages", text, listed)
		}
	})
}

// count returns the number of values in v, with itself.
func count(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += count(e)
		}
	case map[string]any:
		for _, e := range v {
			n += count(e)
		}
	}
	return n
}

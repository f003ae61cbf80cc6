package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/transfer"
)

// Handler returns the handler of signed URLs, which are all below Prefix.
func (o *Objects) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Prefix+"{key...}", o.get)
	mux.HandleFunc("PUT "+Prefix+"{key...}", o.put)
	mux.HandleFunc(Prefix, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", "GET, HEAD, PUT")
		refuse(w, http.StatusMethodNotAllowed, "method not allowed")
	})
	return mux
}

// get serves an object, or the range of it that the client asks for.
func (o *Objects) get(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	query, refused := o.verify(http.MethodGet, key, r.URL)
	if refused != "" {
		refuse(w, http.StatusForbidden, refused)
		return
	}
	f, info, err := o.open(key)
	if err != nil {
		o.fail(w, r, err)
		return
	}
	defer f.Close()
	name := query.Get("name")
	header := w.Header()
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "private")
	if kind := order.MediaType(name); kind != "" { // otherwise ServeContent derives it from the content
		header.Set("Content-Type", kind)
	}
	http.ServeContent(w, r, name, info.ModTime(), f)
}

// putRetry is the number of seconds after which a client may send an object again whose first try broke off unnoticed: as long as a
// server waits for a byte.
const putRetry = 30

// put stores an object of exactly the announced size and type.
func (o *Objects) put(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	query, refused := o.verify(http.MethodPut, key, r.URL)
	if refused != "" {
		refuse(w, http.StatusForbidden, refused)
		return
	}
	size, err := strconv.ParseInt(query.Get("size"), 10, 64)
	if err != nil {
		o.fail(w, r, err)
		return
	}
	if r.ContentLength != size {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("the upload must have a Content-Length of exactly %d bytes", size))
		return
	}
	if want := query.Get("type"); want != "" && r.Header.Get("Content-Type") != want {
		refuse(w, http.StatusBadRequest, "the upload must have the Content-Type "+want)
		return
	}
	if err := o.Room(size); err != nil {
		o.fail(w, r, err)
		return
	}
	// One at a time, since an upload counts with its size.
	if _, busy := o.puts.LoadOrStore(key, true); busy {
		w.Header().Set("Retry-After", strconv.Itoa(putRetry))
		refuse(w, http.StatusTooManyRequests, "another PUT to this link is not finished")
		return
	}
	defer o.puts.Delete(key)
	body := &bodyReader{r: &transfer.PacedReader{R: r.Body, Now: o.now, Patience: transfer.SendPatience}}
	media := &transfer.RoomReader{R: body, Room: o.Room}
	if err := o.Put(r.Context(), key, media, size); err != nil && (body.err != nil || r.Context().Err() != nil) {
		refuse(w, http.StatusBadRequest, "the upload ended early")
	} else if err != nil {
		o.fail(w, r, err)
	}
}

// bodyReader records the error that ended a body early. Such an error is the client's fault, as
// when it disconnects; all other failures of Put are not.
type bodyReader struct {
	r   io.Reader
	err error
}

func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// fail answers a request for a missing object, or one that failed through no fault of the client.
func (o *Objects) fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case failure.CodeOf(err) == failure.NotFound:
		refuse(w, http.StatusNotFound, "not found")
		return
	case failure.DiskFull(err):
		err = failure.ErrNoSpace(err)
		w.Header().Set("Retry-After", strconv.Itoa(failure.RetrySeconds(err)))
		refuse(w, http.StatusInsufficientStorage, failure.MessageOf(err))
		return
	}
	o.log.ErrorContext(r.Context(), "object", "method", r.Method, "key", r.PathValue("key"), "error", err)
	refuse(w, http.StatusInternalServerError, "internal error")
}

func refuse(w http.ResponseWriter, status int, message string) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// the client may be gone, and nobody else needs the error
	_ = json.NewEncoder(w).Encode(map[string]string{"error": message})
}

package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/service"
	"lipsync/internal/http/shown"
)

// requestPage is the page of a request.
type requestPage struct {
	lipsync.Request
	Progress       lipsync.Progress
	Place          service.Place // in the queue
	Source, Output *url.URL      // nil if there is nothing to play
	Poster         *url.URL      // of Output; nil if there is none
	Hint           string        // what to do about a failure
	Segments       []shown.Segment
	Live           bool
	Again          bool           // its inputs can be used again
	Line           shown.Timeline // of Output
	Differs        []shown.Option // what differs from the defaults
	CSRF           string
}

// Plays reports whether the page has a player: of the output, or of a source that the service keeps.
func (r requestPage) Plays() bool {
	return r.MediaDeletedAt.IsZero() && (r.Output != nil || r.Source != nil && r.Video.Object != "")
}

// Waits says what to do while a request waits.
func (r requestPage) Waits() string {
	if r.UnreachableSince.IsZero() && r.MissingSince.IsZero() {
		return "There is nothing to do: the service tries again by itself."
	}
	return "The service tries again by itself. If the address is wrong, cancel the request, and send the file itself from a new one."
}

func (p *pages) showRequest(v *visit) error {
	r, output, err := p.request(v)
	if err != nil {
		return err
	}
	page := requestPage{
		Request: r, Progress: r.ProgressAt(p.service.Now()), Output: output, Poster: p.poster(v.Context(), r),
		Hint: order.Advice(r.Failure.Code), Live: !r.Status.Final(), Line: shown.NewTimeline(r), Differs: shown.Differs(r, p.service.Engines), CSRF: v.session.CSRF,
	}
	if page.Place, err = p.service.Place(v.Context(), r); err != nil {
		return err
	}
	page.Segments = shown.Segments(r.Options.Segments)
	if r.MediaDeletedAt.IsZero() {
		if page.Source, err = p.service.VideoURL(v.Context(), r.Video); err != nil {
			return err
		}
	}
	if r.Status.Final() && r.MediaDeletedAt.IsZero() {
		video, audios, err := p.sourcesAgain(v, r)
		if err != nil {
			return err
		}
		page.Again = video != "" && !slices.ContainsFunc(audios, func(a audio) bool { return a.Source == "" })
	}
	return errors.Join(r.Options.Unread, v.show(http.StatusOK, "request", shown.Name(r), page)) // the page shows what can be read
}

// request returns the request that the path names. The path must have its id, though the service
// would also accept a reference id.
func (p *pages) request(v *visit) (r lipsync.Request, output *url.URL, err error) {
	r, output, err = p.service.Request(v.Context(), v.caller(), v.PathValue("id"))
	if err == nil && r.ID != v.PathValue("id") {
		err = missing()
	}
	return r, output, err
}

// Picture reports whether the source is a stored picture.
func (r requestPage) Picture() bool { return isPicture(r.Video) }

// isPicture reports whether an input is a stored picture, by the name of its file.
func isPicture(in lipsync.Input) bool {
	return in.Object != "" && slices.Contains([]string{".png", ".jpg", ".jpeg", ".webp", ".avif"}, strings.ToLower(path.Ext(in.Name)))
}

// Preload returns how much of the source a browser loads before a person plays it. From an address
// that a client gave it loads nothing, so that opening the page makes no call to that address.
func (r requestPage) Preload() string {
	if r.Video.Object == "" {
		return "none"
	}
	return "metadata"
}

// cancel cancels a request, and leads back to its page. It is no error if the request finished
// meanwhile: the page shows its end.
func (p *pages) cancel(v *visit) error {
	r, _, err := p.request(v)
	if err != nil {
		return err
	}
	if _, err := p.service.Cancel(v.Context(), v.caller(), r.ID); err != nil && failure.CodeOf(err) != failure.Finished {
		return err
	}
	return v.leadTo(p.root + "/requests/" + r.ID)
}

// askDelete asks before the media of a request are deleted.
func (p *pages) askDelete(v *visit) error {
	r, _, err := p.request(v)
	switch {
	case err != nil:
		return err
	case !r.Status.Final() || !r.MediaDeletedAt.IsZero():
		return v.leadTo(p.root + "/requests/" + r.ID)
	}
	return v.show(http.StatusOK, "delete", "Delete media", requestPage{Request: r, CSRF: v.session.CSRF})
}

// deleteMedia deletes the media of a request, and leads back to it.
func (p *pages) deleteMedia(v *visit) error {
	r, _, err := p.request(v)
	if err != nil {
		return err
	}
	if _, err := p.service.DeleteMedia(v.Context(), v.caller(), r.ID); err != nil {
		return err
	}
	return v.leadTo(p.root + "/requests/" + r.ID)
}

// FPS returns the number of frames a second of the output, 0 if it is unknown.
func (r requestPage) FPS() float64 {
	if r.Length <= 0 {
		return 0
	}
	return float64(r.Frames.Total) / r.Length.Seconds()
}

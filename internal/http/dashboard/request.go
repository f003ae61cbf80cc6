package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

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
	Segments       []segment
	Live           bool
	Again          bool           // its inputs can be used again
	Line           shown.Timeline // of Output
	Differs        []option       // settings that differ from the defaults
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
		Hint: order.Advice(r.Failure.Code), Live: !r.Status.Final(), Line: shown.NewTimeline(r), Differs: p.differs(r), CSRF: v.session.CSRF,
	}
	if page.Place, err = p.service.Place(v.Context(), r); err != nil {
		return err
	}
	page.Segments = segmentsOf(r.Options.Segments)
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

// segment is a segment on the page of its request.
type segment struct {
	Part    string // of the video
	Audio   string // its name, "" for none
	Heard   string // the part of the audio, "" for all of it
	Face    string
	Options []option // the others that differ from the defaults
}

// segmentsOf returns the segments for the page of their request.
func segmentsOf(all order.Segments) (shown []segment) {
	part := func(start, end time.Duration) string { return fmt.Sprintf("%g–%g s", start.Seconds(), end.Seconds()) }
	for _, s := range all {
		one := segment{Part: part(s.Start, s.End), Audio: s.Ref, Face: "The one who speaks"}
		if s.To > 0 {
			one.Heard = part(s.From, s.To)
		}
		if face := s.Options.Face; face.By != order.AutoFace {
			one.Face = fmt.Sprintf("The one at %d, %d in frame %d", face.X, face.Y, face.Frame)
		}
		s.Options.Face = order.Face{}
		one.Options = differing(s.Options, order.OfSegment)
		shown = append(shown, one)
	}
	return shown
}

// Settings returns the options of the whole request. With segments most of them can't be set.
func (r requestPage) Settings() []option {
	return slices.DeleteFunc(optionsOf(r.Options), func(o option) bool {
		return r.Options.Segments != nil && o.Whole()
	})
}

// differs returns the settings of a request that differ from what the form begins with.
func (p *pages) differs(r lipsync.Request) []option {
	all := append(differing(r.Options, order.OfRequest), changed(r.Options.Output)...)
	if r.LargestFace {
		all = append(all, option{&order.Option{Label: "Faces"}, "The largest"})
	}
	if len(p.service.Engines) > 1 && r.Engine != p.service.Engines[0] {
		all = append(all, option{&order.Option{Label: "Model"}, r.Engine})
	}
	return all
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

// Verdict returns sentences on how a completed request went.
func (r requestPage) Verdict() string {
	says := "The output is done."
	if !r.Sync.IsZero() {
		says = r.Sync.Says()
	}
	return strings.TrimSpace(says + " " + r.Unsynced.Says())
}

// Summary returns the numbers of a completed request in a line: 3.0 s · 75 frames · took 5.7 s.
func (r requestPage) Summary() string {
	var parts []string
	if r.Length > 0 {
		parts = append(parts, shown.Spell(r.Length))
	}
	if r.Frames.Total > 0 {
		parts = append(parts, fmt.Sprintf("%d frames", r.Frames.Total))
	}
	if r.Size > 0 {
		parts = append(parts, shown.Size(r.Size))
	}
	return strings.Join(append(parts, "took "+shown.Spell(r.FinishedAt.Sub(r.StartedAt).Round(100*time.Millisecond))), " · ")
}

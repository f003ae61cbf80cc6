package dashboard

import (
	"net/http"
	"net/url"

	"lipsync/internal/lipsync"
)

// requestPage is one request.
type requestPage struct {
	lipsync.Request
	Progress       lipsync.Progress
	Source, Output *url.URL // nil where there is nothing to play
	Poster         *url.URL // of Output; nil if there is none
	Hint           string   // what to do about a failure
	Live           bool
	Again          bool // its inputs can be named once more
	CSRF           string
}

func (p *pages) showRequest(v *visit) error {
	r, output, err := p.request(v)
	if err != nil {
		return err
	}
	page := requestPage{
		Request: r, Progress: r.ProgressAt(p.service.Now()), Output: output, Poster: p.poster(v.Context(), r),
		Hint: hint(r.Failure.Code), Live: !r.Status.Final(), CSRF: v.session.CSRF,
	}
	if r.MediaDeletedAt.IsZero() {
		if page.Source, err = p.service.VideoURL(v.Context(), r); err != nil {
			return err
		}
	}
	if r.Status.Final() && r.MediaDeletedAt.IsZero() {
		video, audio, err := p.sourcesAgain(v, r)
		if err != nil {
			return err
		}
		page.Again = video != "" && audio != ""
	}
	return v.show(http.StatusOK, "request", page.Name(), page)
}

// request returns the request that the path names, only by its id: the service would take a
// reference id, too.
func (p *pages) request(v *visit) (r lipsync.Request, output *url.URL, err error) {
	r, output, err = p.service.Request(v.Context(), v.caller(), v.PathValue("id"))
	if err == nil && r.ID != v.PathValue("id") {
		err = missing()
	}
	return r, output, err
}

// Name is what a person calls the request.
func (r requestPage) Name() string {
	if r.ReferenceID != "" {
		return r.ReferenceID
	}
	return "Request " + r.ID[:min(8, len(r.ID))]
}

// Preload is how much of the source a browser loads before it is played: nothing
// from an address that a client gave, so that nobody calls there by looking.
func (r requestPage) Preload() string {
	if r.Video.Object == "" {
		return "none"
	}
	return "metadata"
}

// cancel stops a request, and leads back to it. One that finished meanwhile is
// no failure: the page shows how.
func (p *pages) cancel(v *visit) error {
	r, _, err := p.request(v)
	if err != nil {
		return err
	}
	if _, err := p.service.Cancel(v.Context(), v.caller(), r.ID); err != nil && lipsync.CodeOf(err) != lipsync.Finished {
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

// hint says what to do about a failure, "" for none.
func hint(code lipsync.FailureCode) string {
	switch code {
	case "":
		return ""
	case lipsync.Canceled:
		return "Start it again from New whenever you like."
	case lipsync.InternalFault:
		return "The fault is ours, and it was tried more than once. Try again later; if it stays so, tell whoever runs this service."
	case lipsync.HostFailing:
		return "This service lacked what it needs, such as disk space, its network or ffmpeg, and tried for hours. Try again later; if it stays so, tell whoever runs it."
	case lipsync.MediaNotAccessible:
		return "Open the address in a private window: it has to load there without signing in. Or send the file itself from New."
	case lipsync.MediaPrivate:
		return "The address is of a private network. Send the file itself from New, or ask whoever runs this service to allow such addresses."
	case lipsync.MediaHostMissing:
		return "There is no such host, or it takes no connections. Check the address, or send the file itself from New."
	case lipsync.MediaUnreachable:
		return "The server did not answer as it should, and was tried for hours. Try again once it does, or send the file itself from New."
	case lipsync.MediaTooSlow:
		return "The server sends the file too slowly. Send it itself from New."
	case lipsync.MediaUnsupported:
		return "Videos may be MP4, MOV, WebM, MKV or AVI; audio may be WAV, MP3, M4A, FLAC or OGG, or the sound track of a video."
	case lipsync.VideoIsPicture:
		return "A GIF is a picture too: convert it to MP4. To let a photo speak, make a video of it that is as long as you like."
	case lipsync.MediaTruncated:
		return "The file is not whole: it may not have been sent or saved to its end. Play it to the end first, then send it again."
	case lipsync.NoFace:
		return "The face has to be large enough to see the lips, and look towards the camera for some of the time."
	case lipsync.NoPicture, lipsync.NoSoundTrack:
		return "It may be that video and audio were exchanged, or that the file is damaged: play it first."
	case lipsync.MediaLargerThan, lipsync.MediaLongerThan, lipsync.PictureLargerThan, lipsync.FrameRateAbove:
		return "Cut it, or make it smaller, and send it again."
	case lipsync.ProcessingTooLong:
		return "Convert the video to H.264, with a smaller picture or fewer frames per second, and send it again."
	default:
		return "Play both files first. If they are as they should be, try again."
	}
}

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
	Again          bool     // its inputs can be used again
	Line           timeline // of Output
	Differs        []option // settings that differ from the defaults
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
		Hint: hint(r.Failure.Code), Live: !r.Status.Final(), Line: newTimeline(r), Differs: p.differs(r), CSRF: v.session.CSRF,
	}
	if page.Place, err = p.service.Place(v.Context(), r); err != nil {
		return err
	}
	page.Segments = segmentsOf(r.Options.Segments)
	if r.MediaDeletedAt.IsZero() {
		if page.Source, err = p.service.VideoURL(v.Context(), r); err != nil {
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
	return errors.Join(r.Options.Unread, v.show(http.StatusOK, "request", page.Name(), page)) // the page shows what can be read
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

// Name returns the request's name for people.
func (r requestPage) Name() string { return nameOf(r.Request) }

// Picture reports whether the source is a stored picture, by the name of its file.
func (r requestPage) Picture() bool {
	switch strings.ToLower(path.Ext(r.Video.Name)) {
	case ".png", ".jpg", ".jpeg", ".webp", ".avif":
		return r.Video.Object != ""
	default:
		return false
	}
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

// hint returns what people can do about a failure, "" for no failure.
func hint(code failure.Reason) string {
	switch code {
	case "":
		return ""
	case failure.Canceled:
		return "Start it again from New whenever you like."
	case failure.InternalFault:
		return "The fault is ours, and the service tried more than once. Try again later. If it fails again, tell the operator of this service."
	case failure.HostFailing:
		return "The service had a fault of its own, such as a full disk, no network, no ffmpeg or outputs that could not be signed, and tried for hours. Try again later. If it fails again, tell the operator of this service."
	case failure.MediaNotAccessible:
		return "Open the address in a private window: it has to load there without signing in. Or send the file itself from New."
	case failure.MediaPrivate:
		return "The address is of a private network. Send the file itself from New, or ask the operator of this service to allow such addresses."
	case failure.MediaHostMissing:
		return "The host doesn’t exist, or accepts no connections. Check the address, or send the file itself from New."
	case failure.MediaUnreachable:
		return "The server gave no usable answer for hours. Try again when it works, or send the file itself from New."
	case failure.MediaTooSlow:
		return "The server sends the file too slowly. Send the file itself from New."
	case failure.MediaUnsupported:
		return "Videos may be " + order.VideoFormats + ", or the pictures " + order.PictureFormats + "; audio may be " + order.SoundFormats + ", or the sound track of a video."
	case failure.VideoIsPicture:
		return "Convert a photo, such as a HEIC, to JPEG or PNG, and a moving WebP to MP4."
	case failure.MediaTruncated:
		return "A part of the file is missing: perhaps it was not sent or saved completely. Play it to the end first, then send it again."
	case failure.NoFace:
		return "The face has to be large enough to see the lips, and look towards the camera for some of the time."
	case failure.FaceMissing:
		return "Cut the part without a face, or choose that frames without a face stay as they are."
	case failure.SpeedOutOfRange:
		return "One is more than twice as long as the other. Cut the longer one, or choose another length."
	case failure.FaceNotThere:
		return "Numbers of frames begin at 0. The point is in pixels from the top left corner of the video as you see it, and is on the face."
	case failure.BoxesWithoutFace:
		return "The first box is for the first frame of the video. Boxes are in pixels from the top left corner of the video as you see it."
	case failure.FaceFrameUnused:
		return "The video is cut where the audio or the preview ends. Choose the face in an earlier frame."
	case failure.BoxInvalid:
		return "The file is a list in JSON, such as [[600, 200, 720, 340], null], with left, top, right and bottom of a box."
	case failure.PreviewAfterEnd:
		return "Choose a part that begins earlier."
	case failure.SegmentAfterEnd:
		return "Let each segment begin before the end of the video, and its part of the audio before the end of the audio."
	case failure.FacesOfPicture:
		return "A picture shows one moment, so one person speaks in all of it. Make a request for each person."
	case failure.TrackMissing:
		return "Choose a track that the file has, or none to take the one that players take."
	case failure.OutputTooWide:
		return "Choose a smaller width, or none to keep that of the video."
	case failure.OutputRateAbove:
		return "Choose fewer frames a second, or none to keep those of the video."
	case failure.CodecNotInstalled:
		return "The ffmpeg of this service can’t write this codec. Choose another one, or ask the operator of this service to install it."
	case failure.NotSignable:
		return "Since this request was made, the operator of this service requires a signed manifest in each output. Choose mp4 or mov."
	case failure.UploadRefused:
		return "The storage refused the output. Perhaps the signature of its address has expired, or is not for PUT with the type of the file."
	case failure.UploadPrivate:
		return "The address to send the output to is of a private network. Leave it out, or ask the operator of this service to allow such addresses."
	case failure.UploadHostMissing:
		return "The host to send the output to doesn’t exist, or accepts no connections. Check the address, or leave it out."
	case failure.UploadUnreachable:
		return "The storage failed or was too slow each time. Try again when it works, or leave out its address and download the output."
	case failure.NoPicture, failure.NoSoundTrack:
		return "Perhaps video and audio were exchanged, or the file is damaged: play it first."
	case failure.MediaLargerThan, failure.MediaLongerThan, failure.PictureLargerThan, failure.FrameRateAbove, failure.TooManyPixels, failure.DiskTooSmall:
		return "Cut it, or make it smaller, and send it again."
	case failure.ProcessingTooLong:
		return "Convert the video to H.264, with a smaller picture or fewer frames per second, and send it again."
	default:
		return "Play both files first. If they play well, try again."
	}
}

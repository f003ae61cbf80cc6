package dashboard

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/http/shown"
)

// newPage is the form for a new request. If a sent form could not be used, it has the same content.
type newPage struct {
	Video, VideoName string   // its URL, or that of an upload, and the name of a file that was sent before
	Stored           *url.URL // where a browser gets such a video; nil without one
	Picture          bool     // it is a picture
	Audios           []audio  // the first, and those for segments
	order.Order
	Segments           string // as JSON
	Engines            []string
	MaxVideo, MaxAudio int64  // bytes
	List               string // lines of a batch, as CSV or JSON Lines
	Fresh              bool   // the form has no content
	Problem, CSRF      string
	Once               string // differs in each page, so that a form that is sent twice makes one request
}

// In returns the options and the fields of the output that are in a group of the form, with their values.
func (n newPage) In(g int) (all []shown.Option) {
	options := n.Whole()
	for _, row := range order.OptionsIn(order.Group(g), order.OfRequest|order.OfOutput) {
		all = append(all, shown.Option{Option: row, Value: row.Text(options)})
	}
	return all
}

// Unusual reports whether one of the options under Advanced differs from its default.
func (n newPage) Unusual() bool {
	options := n.Whole()
	return slices.ContainsFunc(order.OptionsIn(order.InAdvanced, order.OfRequest|order.OfOutput), func(o *order.Option) bool { return o.Changed(options) })
}

// audio is an audio in the form for a new request.
type audio struct {
	Ref    string // the name by which segments refer to it; "" for the first audio
	Source string // its URL, or that of an upload
	Name   string // name of a file that was sent before
}

// newRequest shows the form. If the address names a request, the form has its content.
func (p *pages) newRequest(v *visit) error {
	id := v.URL.Query().Get("again")
	if id == "" {
		return p.showNew(v, http.StatusOK, newPage{Fresh: true})
	}
	r, err := p.service.Details(v.Context(), v.caller(), id)
	if err == nil {
		err = r.Options.Unread
	}
	if err != nil {
		return err
	}
	n := newPage{Order: r.Order()}
	n.Output.UploadURL = "" // a signed URL is a secret, and is for one file
	if n.Video, n.Audios, err = p.sourcesAgain(v, r); err != nil {
		return err
	}
	if segments := firstUnnamed(n.Audios, r.Options.Segments); segments != nil {
		text, err := json.Marshal(segments)
		if err != nil {
			return err
		}
		n.Segments = string(text)
	}
	return p.showNew(v, http.StatusOK, n)
}

// sourcesAgain returns the URLs with which another request can name the same video and audios, "" for an input
// that can't be used again.
func (p *pages) sourcesAgain(v *visit, r lipsync.Request) (video string, audios []audio, err error) {
	if video, err = p.service.SourceAgain(v.Context(), v.caller(), failure.Video, r.Video); err != nil {
		return "", nil, err
	}
	for _, in := range r.Audios() {
		a := audio{Ref: in.Ref}
		if a.Source, err = p.service.SourceAgain(v.Context(), v.caller(), failure.Audio, in.Input); err != nil {
			return "", nil, err
		}
		audios = append(audios, a)
	}
	return video, audios, nil
}

// firstUnnamed makes the first audio the one without a name, since the form has no field for its name. If all audios
// have names, the first one loses its name, also in the segments, which firstUnnamed returns.
func firstUnnamed(audios []audio, segments order.Segments) order.Segments {
	if i := slices.IndexFunc(audios, func(a audio) bool { return a.Ref == "" }); i >= 0 {
		audios[0], audios[i] = audios[i], audios[0]
		return segments
	}
	segments = slices.Clone(segments)
	for i := range segments {
		if segments[i].Ref == audios[0].Ref {
			segments[i].Ref = ""
		}
	}
	audios[0].Ref = ""
	return segments
}

// showNew shows the form. It has fields for as many audios as a request can have.
func (p *pages) showNew(v *visit, status int, n newPage) error {
	if err := p.recall(v, &n); err != nil {
		return err
	}
	n.Audios = append(n.Audios, make([]audio, max(0, lipsync.MostTracks-len(n.Audios)))...)
	n.Engines, n.CSRF, n.Once = p.service.Engines, v.session.CSRF, rand.Text()
	n.MaxVideo, n.MaxAudio = p.service.MaxSize(failure.Video), p.service.MaxSize(failure.Audio)
	return v.show(status, "new", "New", n)
}

// recall sets what the form shows of the uploads that it names: the names of their files, and the video.
func (p *pages) recall(v *visit, n *newPage) error {
	video, err := p.uploaded(v, failure.Video, n.Video)
	if err != nil {
		return err
	}
	if video.Object != "" {
		n.VideoName, n.Picture = video.Name, isPicture(video)
		if n.Stored, err = p.service.VideoURL(v.Context(), video); err != nil {
			return err
		}
	}
	for i := range n.Audios {
		in, err := p.uploaded(v, failure.Audio, n.Audios[i].Source)
		if err != nil {
			return err
		}
		n.Audios[i].Name = in.Name
	}
	return nil
}

// uploaded returns the upload that a source names, as an input. It returns an empty one if the source names none that can be used.
func (p *pages) uploaded(v *visit, kind failure.MediaKind, source string) (lipsync.Input, error) {
	in, _, err := p.service.Input(v.Context(), v.caller(), kind, requests.Source{URL: source})
	if failure.CodeOf(err) == failure.Invalid {
		err = nil
	}
	return in, err
}

// startRequest makes a request of two URLs, of which each may be that of an upload, and leads to its
// page.
func (p *pages) startRequest(v *visit) error {
	var id string
	n, segments, err := readNew(v.PostForm)
	if err == nil {
		id, err = p.generate(v, n.params(segments))
	}
	switch failure.CodeOf(err) {
	case "":
		return v.leadTo(p.root + "/requests/" + id)
	case failure.Invalid:
		n.Problem = failure.MessageOf(err)
		return p.showNew(v, http.StatusBadRequest, n)
	default:
		return err
	}
}

// readNew reads the form for a new request. After an error, it has what could be read.
func readNew(form url.Values) (n newPage, segments order.Segments, err error) {
	n = newPage{
		Video: strings.TrimSpace(form.Get("video")), Audios: readAudios(form),
		Order: order.Order{Engine: form.Get("model"), LargestFace: form.Has("largest_face")}, Segments: strings.TrimSpace(form.Get("segments")),
	}
	if reference := strings.TrimSpace(form.Get("reference_id")); reference != "" {
		n.ReferenceID = &reference
	}
	err = readOptions(form, &n.Order)
	if n.Segments != "" {
		err = cmp.Or(err, segments.UnmarshalJSON([]byte(n.Segments)))
	}
	return n, segments, err
}

// readOptions reads the options and the output of a form. A field that was not sent, or is empty, has its default. If
// several can't be used, the error is that of the first, and the others are read nevertheless.
func readOptions(form url.Values, o *order.Order) (first error) {
	for _, option := range order.OptionsAt(order.OfRequest | order.OfOutput) {
		if value := form.Get(option.Name); value != "" {
			first = cmp.Or(first, o.Set(option.Name, value))
		}
	}
	return first
}

// readAudios reads the audios of a form. Of those after the first, it leaves out the ones without any content.
func readAudios(form url.Values) []audio {
	all := []audio{{Source: strings.TrimSpace(form.Get("audio"))}}
	refs, sources := form["more_ref"], form["more_audio"]
	for i := range max(len(refs), len(sources)) {
		var a audio
		if i < len(refs) {
			a.Ref = strings.TrimSpace(refs[i])
		}
		if i < len(sources) {
			a.Source = strings.TrimSpace(sources[i])
		}
		if a != (audio{}) {
			all = append(all, a)
		}
	}
	return all
}

func (p *pages) generate(v *visit, params requests.Params) (id string, err error) {
	if err := p.service.Allow(v.Context(), v.caller(), lipsync.GenerateCall); err != nil {
		return "", err
	}
	if v.PostForm.Has("once") {
		params.IdempotencyKey = v.onceKey()
	}
	return p.service.Generate(v.Context(), v.caller(), params)
}

// onceKey returns the idempotency key of a form: a digest of all that it has.
func (v *visit) onceKey() *string {
	return new(fmt.Sprintf("%x", sha256.Sum256([]byte(v.PostForm.Encode()))))
}

// params returns the parameters of the request that the form describes, with its segments.
func (n newPage) params(segments order.Segments) requests.Params {
	params := requests.Params{Video: requests.Source{URL: n.Video}, Order: n.Order, Segments: segments}
	for _, a := range n.Audios {
		params.Audios = append(params.Audios, requests.Track{Ref: a.Ref, Source: requests.Source{URL: a.Source}})
	}
	return params
}

// upload is the answer to a script that wants to send a file.
type upload struct {
	Address string      `json:"address"`
	Headers http.Header `json:"headers"`
	Source  string      `json:"source"` // names the file in the form
}

// createUpload announces a file that the person chose. It answers scripts, in JSON.
func (p *pages) createUpload(v *visit) error {
	size, err := strconv.ParseInt(v.PostForm.Get("size"), 10, 64)
	if err != nil {
		size = 0 // the service's own message follows
	}
	made, err := p.announce(v, requests.UploadParams{
		Kind: failure.MediaKind(v.PostForm.Get("type")), Size: size, Name: v.PostForm.Get("name"),
	})
	return v.answer(made, err)
}

func (p *pages) announce(v *visit, n requests.UploadParams) (upload, error) {
	if err := p.service.Allow(v.Context(), v.caller(), lipsync.ReadCall); err != nil {
		return upload{}, err
	}
	u, err := p.service.CreateUpload(v.Context(), v.caller(), n)
	if err != nil {
		return upload{}, err
	}
	return upload{u.PutURL.String(), u.Headers, u.Source}, nil
}

// analysis is the answer to a script that wants to know the people in a video.
type analysis struct {
	ID      string         `json:"id"`
	Status  lipsync.Status `json:"status"`
	Percent int            `json:"percent"`
	Problem string         `json:"problem,omitempty"` // why it failed
	*order.Analysis
}

// analyze begins to look for the people in a video, so that the form can offer their faces.
func (p *pages) analyze(v *visit) error {
	a := analysis{Status: lipsync.Queued}
	err := p.service.Allow(v.Context(), v.caller(), lipsync.GenerateCall)
	if err == nil {
		a.ID, err = p.service.Analyze(v.Context(), v.caller(), requests.Source{URL: strings.TrimSpace(v.PostForm.Get("video"))})
	}
	return v.answer(a, err)
}

// showAnalysis says how far an analysis is, and what it found.
func (p *pages) showAnalysis(v *visit) error {
	r, found, err := p.service.Analysis(v.Context(), v.caller(), v.PathValue("id"))
	return v.answer(analysis{r.ID, r.Status, r.ProgressAt(p.service.Now()).Percent, r.Failure.Sentence(), found}, err)
}

// answer answers a script with a body, or with the problem that err is for a person.
func (v *visit) answer(body any, err error) error {
	if err != nil {
		told := v.problem(err)
		return errors.Join(err, v.json(told.Status, map[string]string{"error": told.Message}))
	}
	return v.json(http.StatusOK, body)
}

// json answers a script with JSON.
func (v *visit) json(status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	v.Header().Set("Content-Type", "application/json")
	v.WriteHeader(status)
	_, _ = v.Write(text) // the browser may be gone
	return nil
}

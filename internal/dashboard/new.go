package dashboard

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"lipsync/internal/lipsync"
)

// newPage is the form for a new request. If a sent form could not be used, it has the same content.
type newPage struct {
	Video, Audio, Reference, Engine string
	VideoName, AudioName            string // names of files that were sent before
	LargestFace                     bool
	Options                         lipsync.Options
	Engines                         []string
	MaxVideo, MaxAudio              int64 // bytes
	Problem, CSRF                   string
	Once                            string // differs in each page, so that a form that is sent twice makes one request
}

// newRequest shows the form. If the address names a request, the form has its content.
func (p *pages) newRequest(v *visit) error {
	id := v.URL.Query().Get("again")
	if id == "" {
		return p.showNew(v, http.StatusOK, newPage{})
	}
	r, err := p.service.Details(v.Context(), v.caller(), id)
	if err != nil {
		return err
	}
	n := newPage{Reference: r.ReferenceID, Engine: r.Engine, LargestFace: r.LargestFace, Options: r.Options}
	n.Options.Output.UploadURL = "" // a signed URL is a secret, and is for one file
	if n.Video, n.Audio, err = p.sourcesAgain(v, r); err != nil {
		return err
	}
	if n.Video != "" {
		n.VideoName = r.Video.Name
	}
	if n.Audio != "" {
		n.AudioName = r.Audio.Name
	}
	return p.showNew(v, http.StatusOK, n)
}

// sourcesAgain returns the URLs with which another request can name the same inputs, "" for an input
// that can't be used again.
func (p *pages) sourcesAgain(v *visit, r lipsync.Request) (video, audio string, err error) {
	if video, err = p.service.SourceAgain(v.Context(), v.caller(), lipsync.Video, r.Video); err != nil {
		return "", "", err
	}
	audio, err = p.service.SourceAgain(v.Context(), v.caller(), lipsync.Audio, r.Audio)
	return video, audio, err
}

func (p *pages) showNew(v *visit, status int, n newPage) error {
	n.Engines, n.CSRF, n.Once = p.service.Engines, v.session.CSRF, rand.Text()
	n.MaxVideo, n.MaxAudio = p.service.MaxSize(lipsync.Video), p.service.MaxSize(lipsync.Audio)
	return v.show(status, "new", "New", n)
}

// startRequest makes a request of two URLs, of which each may be that of an upload, and leads to its
// page.
func (p *pages) startRequest(v *visit) error {
	n := newPage{
		Video: strings.TrimSpace(v.PostForm.Get("video")), Audio: strings.TrimSpace(v.PostForm.Get("audio")),
		Reference: strings.TrimSpace(v.PostForm.Get("reference_id")), Engine: v.PostForm.Get("model"),
		LargestFace: v.PostForm.Has("largest_face"),
	}
	var id string
	err := readOptions(v.PostForm, &n.Options)
	if err == nil {
		id, err = p.generate(v, n)
	}
	switch lipsync.CodeOf(err) {
	case "":
		return v.leadTo(p.root + "/requests/" + id)
	case lipsync.Invalid:
		n.Problem = lipsync.MessageOf(err)
		return p.showNew(v, http.StatusBadRequest, n)
	default:
		return err
	}
}

func (p *pages) generate(v *visit, n newPage) (id string, err error) {
	if err := p.service.Allow(v.Context(), v.caller(), lipsync.GenerateCall); err != nil {
		return "", err
	}
	params := lipsync.RequestParams{
		Video: lipsync.Source{URL: n.Video}, Audio: lipsync.Source{URL: n.Audio},
		LargestFace: n.LargestFace, Engine: n.Engine, Options: n.Options,
	}
	if n.Reference != "" {
		params.ReferenceID = &n.Reference
	}
	if v.PostForm.Has("once") {
		params.IdempotencyKey = new(digest(v.PostForm.Encode()))
	}
	return p.service.Generate(v.Context(), v.caller(), params)
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
	made, err := p.announce(v, lipsync.UploadParams{
		Kind: lipsync.MediaKind(v.PostForm.Get("type")), Size: size, Name: v.PostForm.Get("name"),
	})
	return v.answer(made, err)
}

func (p *pages) announce(v *visit, n lipsync.UploadParams) (upload, error) {
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
	*lipsync.Analysis
}

// analyze begins to look for the people in a video, so that the form can offer their faces.
func (p *pages) analyze(v *visit) error {
	a := analysis{Status: lipsync.Queued}
	err := p.service.Allow(v.Context(), v.caller(), lipsync.GenerateCall)
	if err == nil {
		a.ID, err = p.service.Analyze(v.Context(), v.caller(), lipsync.Source{URL: strings.TrimSpace(v.PostForm.Get("video"))})
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

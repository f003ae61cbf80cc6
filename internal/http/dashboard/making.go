package dashboard

import (
	"net/http"
	"net/url"
	"strings"

	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// createBatch makes a batch of the form for a new request, and leads to its page: of a list, or of several speeches for one video.
func (p *pages) createBatch(v *visit) error {
	n, segments, err := readNew(v.PostForm)
	n.List = strings.TrimSpace(v.PostForm.Get("list"))
	var lines []batches.Variant
	switch {
	case err != nil:
	case segments != nil:
		err = failure.New(failure.Invalid, "a request of a batch can't have segments")
	case n.List != "":
		lines, err = batches.ParseList(n.List, n.Video, n.Order)
	default:
		lines = speechLines(v.PostForm, n)
	}
	if err == nil {
		err = p.service.Allow(v.Context(), v.caller(), lipsync.GenerateCall)
	}
	var b lipsync.Batch
	if err == nil {
		params := batches.Params{Lines: lines}
		if v.PostForm.Has("once") {
			params.IdempotencyKey = v.onceKey()
		}
		b, _, err = p.service.CreateBatch(v.Context(), v.caller(), params)
	}
	switch failure.CodeOf(err) {
	case "":
		return v.leadTo(p.root + "/batches/" + url.PathEscape(b.ID))
	case failure.Invalid:
		n.Problem = failure.MessageOf(err)
		return p.showNew(v, http.StatusBadRequest, n)
	default:
		return err
	}
}

// speechLines returns a line for each speech of the form, named after its file.
func speechLines(form url.Values, n newPage) (lines []batches.Variant) {
	names := form["speech_name"]
	for i, speech := range form["speech"] {
		l := batches.Variant{Video: n.Video, Audio: strings.TrimSpace(speech), Order: n.Order}
		if l.ReferenceID = nil; i < len(names) && names[i] != "" {
			l.ReferenceID = &names[i]
		}
		lines = append(lines, l)
	}
	return lines
}

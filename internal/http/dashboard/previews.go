package dashboard

import "lipsync/internal/domain/lipsync"

// previewTime ends the text of the option preview: the seconds of the part that the form plays.
const previewTime = ",5"

// tried is the answer to a script that plays a part of the form's request.
type tried struct {
	ID      string         `json:"id"`
	Status  lipsync.Status `json:"status"`
	Percent int            `json:"percent"`
	Problem string         `json:"problem,omitempty"` // why it failed
	Output  string         `json:"output,omitempty"`  // address
}

// preview makes a request of 5 s of what the form describes, from the form's "from" on, in seconds. It has no name of its client,
// so that a search by that finds the whole.
func (p *pages) preview(v *visit) error {
	made := tried{Status: lipsync.Queued}
	n, segments, err := readNew(v.PostForm)
	if err == nil {
		n.ReferenceID, n.Output.UploadURL = nil, ""
		err = n.Set("preview", v.PostForm.Get("from")+previewTime)
	}
	if err == nil {
		made.ID, err = p.generate(v, n.params(segments))
	}
	return v.answer(made, err)
}

// showPreview says how far a preview is, and where its output is.
func (p *pages) showPreview(v *visit) error {
	r, output, err := p.request(v)
	if err != nil {
		return v.answer(nil, err)
	}
	t := tried{r.ID, r.Status, r.ProgressAt(p.service.Now()).Percent, r.Failure.Sentence(), ""}
	if output != nil {
		t.Output = output.String()
	}
	return v.answer(t, nil)
}

package dashboard

import (
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/http/shown"
)

// estimated is the answer to a script that wants to know what would become of the form.
type estimated struct {
	ID     string         `json:"id"`
	Status lipsync.Status `json:"status"`
	Says   string         `json:"says,omitempty"` // what was found, or why nothing was
}

// estimate begins an estimate of the request that the form describes.
func (p *pages) estimate(v *visit) error {
	e := estimated{Status: lipsync.Queued}
	err := p.service.Allow(v.Context(), v.caller(), lipsync.GenerateCall)
	if err == nil {
		n, segments, unread := readNew(v.PostForm)
		if err = unread; err == nil {
			e.ID, err = p.service.Estimate(v.Context(), v.caller(), n.params(segments))
		}
	}
	return v.answer(e, err)
}

// showEstimate says what an estimate found.
func (p *pages) showEstimate(v *visit) error {
	e, err := p.service.Estimated(v.Context(), v.caller(), v.PathValue("id"))
	return v.answer(estimated{e.ID, e.Status, shown.Estimate(e)}, err)
}

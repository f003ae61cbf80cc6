package dashboard

import (
	"fmt"
	"strings"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
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
	return v.answer(estimated{e.ID, e.Status, sayEstimate(e)}, err)
}

// sayEstimate returns sentences about a final estimate, and "" before.
func sayEstimate(e service.Estimated) string {
	var says []string
	say := func(format string, args ...any) { says = append(says, fmt.Sprintf(format, args...)) }
	switch found := e.Estimate; {
	case !e.Status.Final():
	case e.Failure.Code != "":
		say("There is no estimate: %s.", e.Failure.Sentence())
	case found == nil:
		say("The estimate is no longer kept.")
	case len(found.Problems) > 0:
		say("The request would fail now.")
		for _, problem := range found.Problems {
			say("%s%s.", strings.ToUpper(problem.Message[:1]), problem.Message[1:])
		}
	default:
		say("The output would have %.1f s, %d frames.", found.OutputSeconds, found.Frames)
		if e.Took > 0 {
			say("A worker would take about %s.", shown.Spell(e.Took))
		}
		if e.Place.Position > 0 {
			say("It would be at place %d of the queue.", e.Place.Position)
		}
		if e.Place.Left > 0 {
			say("It would be done in about %s.", shown.Spell(e.Place.Left))
		}
	}
	return strings.Join(says, " ")
}

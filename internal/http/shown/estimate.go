package shown

import (
	"fmt"
	"strings"

	"lipsync/internal/domain/service"
)

// Estimate returns sentences about a final estimate, and "" before.
func Estimate(e service.Estimated) string {
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
			say("A worker would take about %s.", Spell(e.Took))
		}
		if e.Place.Position > 0 {
			say("It would be at place %d of the queue.", e.Place.Position)
		}
		if e.Place.Left > 0 {
			say("It would be done in about %s.", Spell(e.Place.Left))
		}
	}
	return strings.Join(says, " ")
}

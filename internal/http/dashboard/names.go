package dashboard

import (
	"fmt"
	"strings"
	"time"

	"lipsync/internal/domain/lipsync"
)

// nameOf returns a request's name for people: the client's own, else its files, else the begin of its id.
func nameOf(r lipsync.Request) string {
	if r.ReferenceID != "" {
		return r.ReferenceID
	}
	if files := filesOf(r); files != "" {
		return files
	}
	return "Request " + r.ID[:min(8, len(r.ID))]
}

// underName returns what stands below the name: the files of a request with a name of its client.
func underName(r lipsync.Request) string {
	if r.ReferenceID == "" {
		return ""
	}
	return filesOf(r)
}

// filesOf returns the names of the request's files, as far as they are known.
func filesOf(r lipsync.Request) string {
	video, audio := r.Video.FileName(), r.Audio.FileName()
	if video == "" || audio == "" {
		return video + audio
	}
	return video + " with " + audio
}

// counted returns a number of things in words, up to mostCounted: 3 events. It returns "" for 0.
func counted(n int, thing string) string {
	switch {
	case n == 0:
		return ""
	case n == 1:
		return "1 " + thing
	case n > mostCounted:
		return fmt.Sprintf("More than %d %ss", mostCounted, thing)
	default:
		return fmt.Sprintf("%d %ss", n, thing)
	}
}

// distant reports whether a time is so far away that people want its date.
func (p *pages) distant(t time.Time) bool { return p.service.Now().Sub(t).Abs() >= 7*24*time.Hour }

// ago writes a time as seen from now: 2 min ago, in 3 h. A time far away is its date.
func (p *pages) ago(t time.Time) string {
	switch past := p.service.Now().Sub(t); {
	case p.distant(t):
		return t.UTC().Format("2 Jan 2006")
	case past < -time.Minute:
		return "in " + roughly(-past)
	case past < time.Minute:
		return "just now"
	default:
		return roughly(past) + " ago"
	}
}

// roughly writes a length of time by its largest unit.
func roughly(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d < 48*time.Hour:
		return "1 day"
	default:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	}
}

// bars is a picture of the states of a batch's lines.
type bars struct {
	Says string
	Bars []barPart
}

// barPart is a part of a picture that is a thousand wide.
type barPart struct {
	Class    string
	X, Width float64
}

// newBars shows final lines, and those that a worker does; the rest is the ground.
func newBars(c lipsync.Counts) bars {
	var b bars
	var says []string
	x := 0.
	counts := c.ByState()
	for _, state := range []string{"completed", "failed", "refused", "canceled", "processing", "queued", "waiting"} {
		n := counts[state]
		if n == 0 {
			continue
		}
		width := 1000 * float64(n) / float64(c.Lines)
		b.Bars = append(b.Bars, barPart{state, x, width})
		says = append(says, fmt.Sprintf("%d %s", n, state))
		x += width
	}
	lines := "lines"
	if c.Lines == 1 {
		lines = "line"
	}
	b.Says = fmt.Sprintf("%s of %d %s", strings.Join(says, ", "), c.Lines, lines)
	return b
}

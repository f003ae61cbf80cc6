// Package shown says to people what records have: names, times, sizes, advice, and pictures of numbers.
package shown

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"lipsync/internal/domain/lipsync"
)

// Name returns a request's name for people: the client's own, else its files, else the begin of its id. That of a preview says how long it is.
func Name(r lipsync.Request) string {
	name := cmp.Or(r.ReferenceID, Files(r), "Request "+r.ID[:min(8, len(r.ID))])
	if p := r.Options.Preview; p.Length > 0 {
		name += ", preview of " + Spell(p.Length)
	}
	return name
}

// Under returns what stands below the name: the files of a request with a name of its client.
func Under(r lipsync.Request) string {
	if r.ReferenceID == "" {
		return ""
	}
	return Files(r)
}

// Files returns the names of the request's files, as far as they are known.
func Files(r lipsync.Request) string {
	video, audio := r.Video.FileName(), r.Audio.FileName()
	if video == "" || audio == "" {
		return video + audio
	}
	return video + " with " + audio
}

// MostCounted is the number up to which things are counted. Each count reads so many entries of an index.
const MostCounted = 99

// Counted returns a number of things in words, up to MostCounted: 3 events. It returns "" for 0.
func Counted(n int, thing string) string {
	switch {
	case n == 0:
		return ""
	case n == 1:
		return "1 " + thing
	case n > MostCounted:
		return fmt.Sprintf("More than %d %ss", MostCounted, thing)
	default:
		return fmt.Sprintf("%d %ss", n, thing)
	}
}

// Distant reports whether a time is so far away that people want its date.
func Distant(t, now time.Time) bool { return now.Sub(t).Abs() >= 7*24*time.Hour }

// Ago writes a time as seen from now: 2 min ago, in 3 h. A time far away is its date.
func Ago(t, now time.Time) string {
	switch past := now.Sub(t); {
	case Distant(t, now):
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

// BarPicture is a picture of the states of a batch's lines.
type BarPicture struct {
	Says string
	Bars []Bar
}

// Bar is a part of a picture that is a thousand wide.
type Bar struct {
	Class    string
	X, Width float64
}

// NewBars shows final lines, and those that a worker does; the rest is the ground.
func NewBars(c lipsync.Counts) BarPicture {
	var b BarPicture
	var says []string
	x := 0.
	counts := c.ByState()
	for _, state := range []string{"completed", "failed", "refused", "canceled", "processing", "queued", "waiting"} {
		n := counts[state]
		if n == 0 {
			continue
		}
		width := 1000 * float64(n) / float64(c.Lines)
		b.Bars = append(b.Bars, Bar{state, x, width})
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

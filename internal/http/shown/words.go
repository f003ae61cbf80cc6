package shown

import (
	"fmt"
	"strings"
	"time"

	"lipsync/internal/domain/order"
)

// Size writes a number of bytes with one digit after the point: 1.5 GiB.
func Size(n int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.bytes {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.bytes), unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// Spell writes a length of time for people: 0.4 s, 12 s, 3 min 20 s.
func Spell(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Truncate(time.Second).Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", d/time.Minute, d%time.Minute/time.Second)
	default:
		return fmt.Sprintf("%d h %02d min", d/time.Hour, d%time.Hour/time.Minute)
	}
}

// Warnings returns what warnings say to people, with the labels of the form in place of names of options.
func Warnings(w order.Warnings) []string {
	all := w.Texts()
	for i, text := range all {
		for _, o := range order.OptionsAt(order.OfRequest | order.OfOutput) {
			text = strings.ReplaceAll(text, "option "+o.Name+" ", "“"+o.Label+"” ")
		}
		all[i] = text
	}
	return all
}

// Sync returns a known sync score, and what it says.
func Sync(s order.SyncScore) string {
	worst, known := s.Score()
	if !known {
		return s.Says()
	}
	return fmt.Sprintf("%.3f. %s", worst, s.Says())
}

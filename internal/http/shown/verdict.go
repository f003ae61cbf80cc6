package shown

import (
	"fmt"
	"strings"
	"time"

	"lipsync/internal/domain/lipsync"
)

// Verdict returns sentences on how a completed request went.
func Verdict(r lipsync.Request) string {
	says := "The output is done."
	if !r.Sync.IsZero() {
		says = r.Sync.Says()
	}
	return strings.TrimSpace(says + " " + r.Unsynced.Says())
}

// Summary returns the numbers of a completed request in a line: 3.0 s · 75 frames · took 5.7 s.
func Summary(r lipsync.Request) string {
	var parts []string
	if r.Length > 0 {
		parts = append(parts, Spell(r.Length))
	}
	if r.Frames.Total > 0 {
		parts = append(parts, fmt.Sprintf("%d frames", r.Frames.Total))
	}
	if r.Size > 0 {
		parts = append(parts, Size(r.Size))
	}
	return strings.Join(append(parts, "took "+Spell(r.FinishedAt.Sub(r.StartedAt).Round(100*time.Millisecond))), " · ")
}

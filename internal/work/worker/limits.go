package worker

import (
	"lipsync/internal/domain/operator"
	"lipsync/internal/render"
)

// Limits returns the limits of media that an operator has set, except for their sizes in bytes.
func Limits(s operator.Settings) render.Limits {
	return render.Limits{Duration: s.MaxDuration, Width: s.MaxSide, Height: s.MaxSide, FPS: s.MaxFPS, Gigapixels: s.MaxGigapixels}
}

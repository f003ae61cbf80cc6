package worker

import (
	"lipsync/internal/domain/operator"
	"lipsync/internal/render/intake"
)

// Limits returns the limits of media that an operator has set, except for their sizes in bytes.
func Limits(s operator.Settings) intake.Limits {
	return intake.Limits{Duration: s.MaxDuration, Width: s.MaxSide, Height: s.MaxSide, FPS: s.MaxFPS, Gigapixels: s.MaxGigapixels}
}

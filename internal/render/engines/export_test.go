package engines

import "time"

// SetTryCPU sets how long Try waits for the CPU, and returns the time before.
func SetTryCPU(d time.Duration) (before time.Duration) {
	before, tryCPU = tryCPU, d
	return before
}

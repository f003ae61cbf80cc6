package dsp_test

import (
	"fmt"
	"math"

	"lipsync/internal/signal/dsp"
)

// The power of a tone of 1 kHz is in the bin of 1 kHz. At a rate of 16 kHz, bins of 512
// samples are 31.25 Hz apart.
func ExampleSpectrum_Power() {
	const rate, n = 16000, 512
	tone := make([]float64, n)
	for i := range tone {
		tone[i] = math.Sin(2 * math.Pi * 1000 * float64(i) / rate)
	}
	power := dsp.NewSpectrum(dsp.PeriodicHann(n), n).Power(tone)
	loudest := 0
	for bin := range power {
		if power[bin] > power[loudest] {
			loudest = bin
		}
	}
	fmt.Println(len(power), "bins, loudest at", float64(loudest)*rate/n, "Hz")
	// Output: 257 bins, loudest at 1000 Hz
}

// Below 1 kHz the bands of this scale are equally wide, and above it they grow.
func ExampleMelScale_Edges() {
	for _, hz := range dsp.Slaney.Edges(0, 6400, 4) {
		fmt.Printf("%.0f ", hz)
	}
	// Output: 0 560 1132 2016 3592 6400
}

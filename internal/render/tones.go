package render

import (
	"math"

	"lipsync/internal/media/ffmpeg"
)

// tones converts luma between the 10 bits of a frame and the 8 bits that engines see, both of limited range. Engines see a high dynamic
// range as the video would look after its conversion to a standard one, except that its colours are paler, since chroma stays as it is.
type tones struct {
	down [1024]uint8
	up   [256]uint16 // the value that down maps nearest to the index
}

// The black and the white of luma of limited range, in 10 bits.
const black, white = 64, 940

func newTones(transfer ffmpeg.Transfer) *tones {
	curve, from, to := func(value float64) float64 { return value / 4 }, 0, 1023
	if transfer != ffmpeg.SDR {
		curve, from, to = func(value float64) float64 {
			signal := (min(max(value, black), white) - black) / (white - black)
			return 16 + 219*darken(light(transfer, signal))
		}, black, white
	}
	t := &tones{}
	for i := range t.down {
		t.down[i] = uint8(min(math.Round(curve(float64(i))), 255))
	}
	for i := range t.up {
		best := math.Inf(1)
		for value := from; value <= to; value++ {
			if d := math.Abs(curve(float64(value)) - float64(i)); d < best {
				t.up[i], best = uint16(value), d
			}
		}
	}
	return t
}

// light returns the light of a display in units of 100 cd/m², for a signal from 0 to 1 by Rec. ITU-R BT.2100. A display of HLG has
// 1000 cd/m².
func light(transfer ffmpeg.Transfer, signal float64) float64 {
	if transfer == ffmpeg.PQ {
		const m1, m2, c1, c2, c3 = 2610. / 16384, 2523. / 4096 * 128, 3424. / 4096, 2413. / 4096 * 32, 2392. / 4096 * 32
		root := math.Pow(signal, 1/m2)
		return 100 * math.Pow(max(root-c1, 0)/(c2-c3*root), 1/m1)
	}
	const a, b, gamma = .17883277, .28466892, 1.2
	scene := signal * signal / 3
	if signal > .5 {
		scene = (math.Exp((signal-(.5-a*math.Log(4*a)))/a) + b) / 12
	}
	return 10 * math.Pow(scene, gamma)
}

// darken returns the signal of a standard dynamic range, from 0 to 1, for light in units of 100 cd/m². It has the curve and the white of
// ffmpeg's filter tonemap=hable, with which the decoder converts videos for outputs that can't have a high dynamic range.
func darken(light float64) float64 {
	hable := func(x float64) float64 {
		const a, b, c, d, e, f = .15, .5, .1, .2, .02, .3
		return (x*(x*a+b*c)+d*e)/(x*(x*a+b)+d*f) - e/f
	}
	const brightest = 10
	return math.Pow(min(max(hable(light)/hable(brightest), 0), 1), 1/2.4) // Rec. ITU-R BT.1886
}

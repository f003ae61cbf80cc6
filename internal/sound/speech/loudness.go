package speech

import (
	"bufio"
	"io"
	"math"
	"slices"

	"lipsync/internal/signal/dsp"
)

// Loudness reads samples as Read does, and returns how loud the loudest tenth of them is: the root of the mean square of a tenth of a second that is
// as loud. It tells whether there are samples.
func Loudness(pcm io.Reader) (loud float64, some bool, err error) {
	var levels []float64
	const tenth = SampleRate / 10
	from, bytes, samples := bufio.NewReader(pcm), make([]byte, 2*tenth), make([]float64, tenth)
	for {
		n, err := io.ReadFull(from, bytes)
		if n == 0 && err == io.EOF {
			break
		}
		if err != nil && err != io.ErrUnexpectedEOF {
			return 0, false, err
		}
		sum := 0.
		dsp.Decode(samples[:n/2], bytes)
		for _, s := range samples[:n/2] {
			sum += s * s
		}
		levels = append(levels, math.Sqrt(sum/float64(max(1, n/2))))
	}
	if len(levels) == 0 {
		return 0, false, nil
	}
	slices.Sort(levels)
	return levels[len(levels)*9/10], true, nil
}

package rendertest

import (
	"math"
	"path/filepath"
	"testing"

	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/test/ffmpegtest"
)

// Numbered returns a clip of grey frames at a rate, each with its number for ffmpegtest.Number.
func Numbered(rate medium.Rate, frames int) Clip {
	c := Clip{Width: ffmpegtest.Width, Height: ffmpegtest.Height, Rate: rate}
	v := &medium.Video{Width: c.Width, Height: c.Height}
	for n := range frames {
		frame := v.NewFrame()
		for i, plane := range [][]byte{frame.Y, frame.Cb, frame.Cr} {
			for k := range plane {
				plane[k] = []byte{120, 128, 128}[i]
			}
		}
		ffmpegtest.Draw(frame, 0, n)
		c.Frames = append(c.Frames, medium.Bytes(frame))
	}
	return c
}

// Tone returns the samples of a tone of 300 Hz of an amplitude.
func Tone(seconds, amplitude float64) []int16 {
	samples := make([]int16, int(math.Round(seconds*ffmpeg.PCMRate)))
	for i := range samples {
		samples[i] = int16(amplitude * math.MaxInt16 * math.Sin(2*math.Pi*300*float64(i)/ffmpeg.PCMRate))
	}
	return samples
}

// File writes a clip to a file in the test's temporary folder, and returns its path.
func (c Clip) File(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := c.Write(path); err != nil {
		t.Fatal(err)
	}
	return path
}

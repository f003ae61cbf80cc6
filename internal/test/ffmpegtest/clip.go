// Package ffmpegtest makes clips for tests, with numbered frames.
package ffmpegtest

import (
	"context"
	"fmt"
	"image"
	"io"
	"math"
	"sync"
	"testing"

	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
)

// A number is drawn as ten bits in a row, lowest first. Each bit is a dark or bright block of this
// size.
const (
	block = 16
	bits  = 10
)

// These are the size of a numbered frame.
const (
	Width  = block * bits
	Height = 96
)

// found finds the tools. Each time it would start several processes to try the sandbox.
var found = sync.OnceValues(func() (*ffmpeg.Tools, error) { return ffmpeg.Find(2) })

// Tools returns the tools of the machine, with two threads. The test may change them: other tests have their own copy.
func Tools(t testing.TB) *ffmpeg.Tools {
	t.Helper()
	all, err := found()
	if err != nil {
		t.Fatal(err)
	}
	own := *all
	return &own
}

// Numbered returns a video source for ffmpeg's lavfi: grey frames of Width × Height with their
// number in the top rows. A pixel is computed for each block.
func Numbered(rate string, frames int) string {
	return fmt.Sprintf("color=gray:s=%dx%d:r=%s,trim=end_frame=%d,format=yuv444p,"+
		"geq=lum='if(lt(Y,1),40+mod(floor(N/pow(2,X)),2)*160,120)':cb=128:cr=128,scale=%d:%d:flags=neighbor,format=yuv420p",
		Width/block, Height/block, rate, frames, Width, Height)
}

// Reader reads the frames of files, as ffmpeg.Tools does.
type Reader interface {
	Probe(ctx context.Context, path string) (*medium.Info, error)
	OpenFrames(ctx context.Context, in *medium.Info, most int) (ffmpeg.Frames, error)
}

// Frames returns what a file says about itself, and its frames.
func Frames(t testing.TB, path string) (*medium.Info, []*image.YCbCr) {
	t.Helper()
	return FramesBy(t, Tools(t), path)
}

// FramesBy is Frames by a reader.
func FramesBy(t testing.TB, r Reader, path string) (in *medium.Info, all []*image.YCbCr) {
	t.Helper()
	in, err := r.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := r.OpenFrames(t.Context(), in, 10000)
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	for {
		frame := in.Video.NewFrame()
		if err := frames.Read(frame); err == io.EOF {
			return in, all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, frame)
	}
}

// Number reads the number in the row of blocks that starts at y.
func Number(frame *image.YCbCr, y int) int {
	n := 0
	for i := range bits {
		if frame.YCbCrAt(i*block+block/2, y+block/2).Y > 120 {
			n |= 1 << i
		}
	}
	return n
}

// Draw draws a number that Number can read.
func Draw(frame *image.YCbCr, y, number int) {
	for i := range bits {
		value := byte(40 + number>>i&1*160)
		for row := range block {
			at := frame.YOffset(i*block, y+row)
			for x := range block {
				frame.Y[at+x] = value
			}
		}
	}
}

// Amplitude returns the amplitude of a frequency in samples.
func Amplitude(samples []float64, rate int, hz float64) float64 {
	var re, im float64
	for i, s := range samples {
		sin, cos := math.Sincos(2 * math.Pi * hz * float64(i) / float64(rate))
		re, im = re+s*cos, im+s*sin
	}
	return 2 * math.Hypot(re, im) / float64(len(samples))
}

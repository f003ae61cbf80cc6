package gpucheck

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"

	"lipsync/internal/media/ffmpeg"
)

// likeness has measures of the similarity of two videos, frame by frame.
type likeness struct {
	frames  int
	squares float64 // mean squared difference of luma, summed over the frames
	ssim    float64 // of luma, summed over the frames
}

// psnr returns the peak signal-to-noise ratio of luma, in dB.
func (l *likeness) psnr() float64 {
	return 20*math.Log10(255) - 10*math.Log10(l.squares/float64(l.frames))
}

// decibels returns the SSIM of luma in dB, as ffmpeg prints it: 10 dB is 0.9, 20 dB is 0.99.
func (l *likeness) decibels() float64 { return -10 * math.Log10(1-l.ssim/float64(l.frames)) }

// frames opens a video. The caller closes it.
func (m *Machine) frames(ctx context.Context, path string) (ffmpeg.Frames, *image.YCbCr, error) {
	info, err := m.Tools.Probe(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	frames, err := m.Tools.OpenFrames(ctx, info, 1<<30)
	return frames, info.Video.NewFrame(), err
}

// liken compares two videos of the same length and size.
func (m *Machine) liken(ctx context.Context, a, b string) (l likeness, err error) {
	first, x, err := m.frames(ctx, a)
	if err != nil {
		return l, err
	}
	defer first.Close()
	second, y, err := m.frames(ctx, b)
	if err != nil {
		return l, err
	}
	defer second.Close()
	if x.Rect != y.Rect {
		return l, fmt.Errorf("the frames are of %v and %v pixels", x.Rect.Size(), y.Rect.Size())
	}
	for {
		one, other := first.Read(x), second.Read(y)
		switch {
		case one == io.EOF && other == io.EOF && l.frames > 0:
			return l, nil
		case one != nil || other != nil:
			return l, fmt.Errorf("after %d frames: %w", l.frames, errors.Join(one, other))
		}
		l.add(x, y)
	}
}

// add compares two frames.
func (l *likeness) add(x, y *image.YCbCr) {
	l.frames++
	sum := 0
	for i, v := range x.Y {
		d := int(v) - int(y.Y[i])
		sum += d * d
	}
	l.squares += float64(sum) / float64(len(x.Y))
	l.ssim += ssim(x, y)
}

// ssim returns the mean structural similarity of luma (Wang, Bovik, Sheikh and
// Simoncelli, "Image Quality Assessment: From Error Visibility to Structural
// Similarity", 2004), in windows of 8 × 8 pixels every 4 pixels, as ffmpeg does.
func ssim(x, y *image.YCbCr) float64 {
	const side, step = 8, 4
	var total float64
	windows := 0
	for top := 0; top+side <= x.Rect.Dy(); top += step {
		for left := 0; left+side <= x.Rect.Dx(); left += step {
			var sx, sy, xx, yy, xy int
			for row := top; row < top+side; row++ {
				a, b := x.Y[row*x.YStride+left:][:side], y.Y[row*y.YStride+left:][:side]
				for i, v := range a {
					p, q := int(v), int(b[i])
					sx, sy, xx, yy, xy = sx+p, sy+q, xx+p*p, yy+q*q, xy+p*q
				}
			}
			total += similarity(sx, sy, xx, yy, xy, side*side)
			windows++
		}
	}
	return total / float64(windows)
}

// similarity returns the SSIM of a window of n pixels by the sums of its numbers, of
// their squares, and of their products.
func similarity(sx, sy, xx, yy, xy, n int) float64 {
	const c1, c2 = .01 * 255 * .01 * 255, .03 * 255 * .03 * 255
	count := float64(n)
	mx, my := float64(sx)/count, float64(sy)/count
	vx, vy, cov := float64(xx)/count-mx*mx, float64(yy)/count-my*my, float64(xy)/count-mx*my
	return (2*mx*my + c1) * (2*cov + c2) / ((mx*mx + my*my + c1) * (vx + vy + c2))
}

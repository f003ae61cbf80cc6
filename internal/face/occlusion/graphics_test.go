package occlusion_test

import (
	"fmt"
	"image"
	"image/color"
	"testing"

	"lipsync/internal/face/detection"
	"lipsync/internal/test/facetest"
)

// glyphs has letters of 5 × 7 points, each row as the bits of a number.
var glyphs = map[rune][7]uint8{
	'A': {14, 17, 17, 31, 17, 17, 17}, 'E': {31, 16, 16, 30, 16, 16, 31}, 'H': {17, 17, 17, 31, 17, 17, 17}, 'L': {16, 16, 16, 16, 16, 16, 31},
	'M': {17, 27, 21, 21, 17, 17, 17}, 'N': {17, 25, 21, 19, 17, 17, 17}, 'O': {14, 17, 17, 17, 17, 17, 14}, 'S': {15, 16, 16, 14, 1, 1, 30},
	'T': {31, 4, 4, 4, 4, 4, 4},
}

// caption is a line of text in a picture.
type caption struct {
	text     string
	size     int // pixels to a point of a letter
	ink, rim color.YCbCr
}

var (
	white = color.YCbCr{Y: 225, Cb: 128, Cr: 128}
	black = color.YCbCr{Y: 18, Cb: 128, Cr: 128}
)

// draw draws the caption with its middle at a place, and returns the pixels of its letters.
func (c caption) draw(f *image.YCbCr, x, y int) (letters []image.Point) {
	left, top := x-len(c.text)*6*c.size/2, y-7*c.size/2
	for k, r := range c.text {
		for row, bits := range glyphs[r] {
			for column := range 5 {
				if bits>>(4-column)&1 == 0 {
					continue
				}
				for i := range c.size * c.size {
					p := image.Pt(left+(k*6+column)*c.size+i%c.size, top+row*c.size+i/c.size)
					if p.In(f.Rect) {
						letters = append(letters, p)
					}
				}
			}
		}
	}
	set := func(p image.Point, v color.YCbCr) {
		if p.In(f.Rect) {
			f.Y[f.YOffset(p.X, p.Y)], f.Cb[f.COffset(p.X, p.Y)], f.Cr[f.COffset(p.X, p.Y)] = v.Y, v.Cb, v.Cr
		}
	}
	for _, p := range letters {
		for i := range 9 {
			set(p.Add(image.Pt(i%3-1, i/3-1)), c.rim)
		}
	}
	for _, p := range letters {
		set(p, c.ink)
	}
	return letters
}

// kept returns how much of pixels stays as it is under a cover, and the least that is left of an opaque mask of the lips.
func kept(c interface{ Uncover(*image.Alpha) bool }, pixels []image.Point, lips *image.Alpha, frame image.Rectangle) (share float32, left uint8) {
	m := image.NewAlpha(frame)
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	c.Uncover(m)
	for _, p := range pixels {
		share += (1 - float32(m.AlphaAt(p.X, p.Y).A)/255) / float32(len(pixels))
	}
	left = 255
	for y := lips.Rect.Min.Y; y < lips.Rect.Max.Y; y++ {
		for x := lips.Rect.Min.X; x < lips.Rect.Max.X; x++ {
			left = min(left, m.AlphaAt(x, y).A)
		}
	}
	return share, left
}

// TestCaptions checks that letters on the chin of a drawn head that sways and speaks stay as they are, and that its lips are painted.
func TestCaptions(t *testing.T) {
	const from, to = 20, 80 // frames with the caption
	for name, c := range map[string]caption{
		"white with a black rim": {"HELLO", 2, white, black},
		"black with a white rim": {"AT NOON", 2, black, white},
		"white, without a rim":   {"SEASON", 2, white, skin},
		"large":                  {"THEN", 3, white, black},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			letters := map[int][]image.Point{}
			s := scene{frames: 100, head: speaking, draw: func(i int, _ facetest.Head, f *image.YCbCr) {
				if i >= from && i < to {
					letters[i] = c.draw(f, 160, 222)
				}
			}}
			a := s.see()
			for i := range s.frames {
				k := a.Cover(3, i)
				switch {
				case (i < from-1 || i > to) && k == nil:
					t.Errorf("frame %d without letters may get those of others", i)
					continue
				case i < from+2 || i >= to-2:
					continue
				case k == nil:
					t.Errorf("frame %d: nothing is kept", i)
					continue
				case k.HidesLips():
					t.Errorf("frame %d: the lips count as hidden", i)
				}
				h := speaking(i)
				l := detection.Landmarks(h.Landmarks())
				share, left := kept(k, onChin(letters[i], l), lipsMask(&l), image.Rect(0, 0, width, height))
				if share < .9 || left < 128 {
					t.Errorf("frame %d: %.3f of the letters are kept, and %d of 255 is left of the lips", i, share, left)
				}
			}
		})
	}
}

// onChin returns the pixels of letters that are as wide apart as the face.
func onChin(letters []image.Point, l detection.Landmarks) (some []image.Point) {
	width := l[detection.RightCorner].X - l[detection.LeftCorner].X
	for _, p := range letters {
		if x := float32(p.X); x > l[detection.LeftCorner].X-width/2 && x < l[detection.RightCorner].X+width/2 {
			some = append(some, p)
		}
	}
	return some
}

// TestCaptionsOnPeople does so with people, whose lips are painted all the same.
func TestCaptionsOnPeople(t *testing.T) {
	for _, c := range []struct {
		clip
		size, below int // of the caption: below the lower lip of the first frame
	}{{man, 4, 40}, {suit, 5, 45}} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			frames := c.decode(t, "-frames:v", "60")
			without, _ := track(t, frames[:1], c.fps)
			lip := without[0][0].Landmarks[detection.LowerLip]
			var letters []image.Point
			for _, f := range frames {
				letters = caption{"ALSO THE SAME", c.size, white, black}.draw(f, int(lip.X), int(lip.Y)+c.below)
			}
			all, cuts := track(t, frames, c.fps)
			a := analyse(all, cuts, c.fps)
			wrong, checked := "", 0
			for i, faces := range all {
				if len(faces) == 0 {
					continue
				}
				k := a.Cover(faces[0].Track, i)
				if k == nil {
					wrong += fmt.Sprintf(" %d: nothing is kept;", i)
					continue
				}
				l := faces[0].Landmarks
				checked++
				if share, left := kept(k, onChin(letters, l), lipsMask(&l), frames[i].Rect); share < .9 || left < 128 || k.HidesLips() {
					wrong += fmt.Sprintf(" %d: %.2f are kept, %d of 255 is left of the lips, lips hidden %v;", i, share, left, k.HidesLips())
				}
			}
			if wrong != "" || checked < 50 {
				t.Error(checked, "frames:", wrong)
			}
		})
	}
}

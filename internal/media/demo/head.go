// Package demo makes a sample video and speech for trying the service: a drawn talking head, and a
// text for it to say.
package demo

import (
	"image"
	"math"
	"sync"
)

// These constants describe the sample video. Frames is its length in frames.
const (
	Frames                  = 4 * fps
	fps                     = 25
	frameWidth, frameHeight = 1280, 720
)

// head is the person at one moment. Coordinates are in distances between the pupils: u to the
// right, v down, with 0, 0 halfway between the pupils.
type head struct {
	x, y  float64 // position of 0, 0 in the frame, in pixels
	size  float64 // distance between the pupils, in pixels
	tilt  float64 // radians
	yaw   float64 // how far the nose points to the right, from 0 to 1
	lids  float64 // how far the eyes are closed, from 0 to 1
	pixel float64 // size of a pixel
}

// at returns the head in a frame. It sways a little, and blinks.
func at(frame int) head {
	t := float64(frame) / fps
	h := head{size: 118}
	h.x = frameWidth/2 + 7*math.Sin(2*math.Pi*t/5.1) + 3*math.Sin(2*math.Pi*t/2.3)
	h.y = 300 + 4*math.Sin(2*math.Pi*t/3.7)
	h.tilt = .025 * math.Sin(2*math.Pi*t/4.3)
	h.yaw = .05 * math.Sin(2*math.Pi*t/5.9)
	for _, blink := range []float64{1.3, 3.3} {
		h.lids = max(h.lids, 1-math.Abs(t-blink)/.14)
	}
	h.pixel = 1 / h.size
	return h
}

// frame paints a frame, or for a shrink above 1 every shrink-th pixel of each row and column of it, with edges as soft as these need.
func frame(index, shrink int) *image.RGBA {
	h := at(index)
	h.pixel *= float64(shrink)
	picture := image.NewRGBA(image.Rect(0, 0, frameWidth/shrink, frameHeight/shrink))
	sin, cos := math.Sincos(h.tilt)
	var rows sync.WaitGroup
	const bands = 8
	for band := range bands {
		rows.Go(func() {
			for row := band; row < picture.Rect.Dy(); row += bands {
				for column := range picture.Rect.Dx() {
					x, y := column*shrink, row*shrink
					dx, dy := (float64(x)-h.x)/h.size, (float64(y)-h.y)/h.size
					u, v := dx*cos+dy*sin, dy*cos-dx*sin
					picture.SetRGBA(column, row, h.colour(u, v, x, y).rgba())
				}
			}
		})
	}
	rows.Wait()
	return picture
}

// colour returns the colour at a position, painted from the back to the front.
func (h head) colour(u, v float64, x, y int) paint {
	p := wall()[y*frameWidth+x]
	mane := h.mane(u, v)
	if mane > 0 {
		p = p.over(strands(u, v).lit(.72), mane) // behind the neck
	}
	p = h.body(p, u, v)
	if math.Abs(u) > 1.5 || v < -2 || v > 2 {
		return p
	}
	p, inside := h.skin(p, u, v)
	if inside > 0 {
		f := h.nose(h.cheeks(p, u, v), u, v)
		f = h.mouth(f, u, v)
		for _, side := range []float64{-1, 1} {
			f = h.eye(f, u, v, side)
		}
		p = p.over(f, inside)
	}
	return hair(p, u, v, mane)
}

// wall returns the colours of the background by rows: a wall with soft light.
var wall = sync.OnceValue(func() []paint {
	var all []paint
	for y := range frameHeight {
		for x := range frameWidth {
			u, v := float64(x)/frameWidth, float64(y)/frameHeight
			p := paint{.38, .47, .52}.lit(.75 + .5*glow(u, v, .36, .3, .55, .7))
			all = append(all, p.lit(1+.012*grain(float64(x), float64(y), 3)))
		}
	}
	return all
})

// body paints the neck and a sweater.
func (h head) body(p paint, u, v float64) paint {
	if v < .9 {
		return p
	}
	const highest = 2.34 // of the sweater
	top, sweater := highest, 0.0
	if v > highest-h.pixel {
		slope := highest + .22*math.Pow(max(0, math.Abs(u)-.5), 1.6)
		collar := 2.36 + .26*(1-u*u/.5)
		top = max(slope, collar)
		sweater = edge(top-v, 2*h.pixel)
	}
	neck := edge(math.Abs(u)-.60-.12*max(0, v-2), 2*h.pixel) * edge(1-v, h.pixel)
	if neck > 0 && sweater < 1 {
		p = p.over(paint{.80, .59, .49}.lit(.86-.22*u-.45*glow(u, v, 0, 1.75, 1.1, .55)), neck)
	}
	if sweater == 0 {
		return p
	}
	wool := paint{.20, .33, .42}.lit(1 - .12*u + .06*grain(u, v, .03) - .30*glow(u, v, 0, 2.3, .9, .35))
	wool = wool.lit(1 - .22*edge(math.Abs(v-top-.13)-.004, .03)*edge(math.Abs(u)-.8, .3)) // seam of the collar
	return p.over(wool, sweater)
}

// outline returns the distance of a position from the edge of the face. It is negative inside. Beyond .04 it is rough, since no shape has an edge
// that is so soft there.
func outline(u, v float64) float64 {
	const middle, half = .1, 1.13
	u, v = math.Abs(u)/half, v-middle
	if v < 0 {
		return (math.Sqrt(u*u+v*v/(1.72*1.72)) - 1) * half
	}
	const power = 2.25 // the jaw is squarer than the forehead
	if square := u*u + v*v/(1.80*1.80); square < .9 || square > 1.2 {
		return (math.Sqrt(square) - 1) * half
	}
	return (math.Pow(math.Pow(u, power)+math.Pow(v/1.80, power), 1/power) - 1) * half
}

// skin paints the ears and the bare face. inside is 1 within the face.
func (h head) skin(p paint, u, v float64) (_ paint, inside float64) {
	inside = edge(outline(u, v), 2.5*h.pixel)
	tone := paint{.90, .69, .58}
	for _, side := range []float64{-1, 1} {
		if inside == 1 || math.Abs(v-.2) > .4 {
			break
		}
		if ear := oval(u, v, side*1.15, .2, .17, .36, 2*h.pixel); ear > 0 {
			p = p.over(tone.lit(.74-.1*side).over(paint{.52, .30, .25}, .6*glow(u, v, side*1.15, .2, .07, .2)), ear)
		}
	}
	if inside == 0 {
		return p, 0
	}
	// The light comes from the left, above and in front of the face, which is a rounded body.
	x, y := u/1.2, (v-.1)/1.95
	z := math.Sqrt(max(0, 1-x*x-y*y))
	light := .52 + .50*max(0, -.38*x-.36*y+.85*z)
	tone = tone.lit(light * (1 + .012*grain(u, v, .035) + .018*grain(u, v, .11)))
	return p.over(tone, inside), inside
}

// cheeks paints the large soft shapes of a face.
func (h head) cheeks(p paint, u, v float64) paint {
	red := paint{.83, .45, .40}
	for _, side := range []float64{-1, 1} {
		p = p.over(red, .20*glow(u, v, side*.68, .72, .34, .26))
		p = p.lit(1 + .07*glow(u, v, side*.62, .48, .26, .16))
		p = p.lit(1 - .16*glow(u, v, side*.5, -.02, .30, .20)) // eye socket
		p = p.lit(1 - .08*glow(u, v, side*.47, .22, .22, .07))
		p = p.lit(1 - .10*glow(u, v, side*(.50+.12*(v-.9)), .95, .07, .22)) // from nose to mouth
	}
	p = p.lit(1 + .07*glow(u, v, -.1, -.75, .6, .35))
	p = p.lit(1 - .14*glow(u, v, 0, 1.45, .30, .07)) // under the lower lip
	return p.lit(1 + .05*glow(u, v, -.05, 1.66, .22, .14))
}

// nose paints a ridge with a light side, a dark side and two nostrils.
func (h head) nose(p paint, u, v float64) paint {
	u -= h.yaw * .35
	ridge := min(max((v+.1)/.8, 0), 1)
	width := .07 + .07*ridge
	p = p.lit(1 + .10*glow(u, v, -.01, .3, width*.8, .45))
	p = p.lit(1 - .15*glow(u, v, .10+.08*ridge, .38, .07, .36))
	p = p.lit(1 - .07*glow(u, v, -.13-.05*ridge, .38, .06, .34))
	p = p.lit(1 + .14*glow(u, v, -.03, .60, .08, .07)) // tip of the nose
	shade := paint{.50, .28, .24}
	p = p.over(shade, .40*glow(u, v, .01, .80, .24, .05))
	for _, side := range []float64{-1, 1} {
		p = p.over(shade, .35*glow(u, v, side*.225, .68, .035, .10))
		p = p.over(paint{.20, .09, .08}, .85*oval(u, v, side*.105, .765+.02*math.Abs(u-side*.105), .062, .026, .03))
	}
	return p
}

// mouth paints two closed lips.
func (h head) mouth(p paint, u, v float64) paint {
	u -= h.yaw * .22
	const half, line = .44, 1.13
	s := u / half
	if math.Abs(s) > 1.25 {
		return p
	}
	arch := max(0, 1-s*s)
	if v < .6 || v > 1.4 {
		return p.lit(1 + .025*grain(u, v*.3, .02)*arch) // the skin around it
	}
	seam := line - .012*math.Cos(3*math.Pi*s)*arch - .02*s*s // where the lips meet
	bow := .035 * math.Exp(-s*s/.02)                         // the dip of the upper lip
	top, bottom := seam-.115*math.Pow(arch, .75)+bow, seam+.155*math.Pow(arch, .62)

	red := paint{.72, .34, .33}
	upper, lower := red.lit(.86-.1*s), red.lit(1.04-.1*s)
	p = p.lit(1 - .06*glow(u, v, 0, .95, .05, .10)) // the groove above
	p = p.over(upper, .92*edge(top-v, .035)*edge(v-seam, .01))
	p = p.over(lower.lit(1+.16*glow(u, v, -.08, seam+.075, .20, .035)), .92*edge(seam-v, .01)*edge(v-bottom, .045))
	p = p.lit(1 + .025*grain(u, v*.3, .02)*arch)
	dark := paint{.26, .09, .09}
	p = p.over(dark, .9*edge(math.Abs(v-seam)-.012*arch-.004, .022)*edge(math.Abs(s)-1, .06))
	return p.over(dark, .35*(glow(u, v, -half, line-.02, .05, .035)+glow(u, v, half, line-.02, .05, .035)))
}

// eye paints one eye with its brow. side is -1 for the left one.
func (h head) eye(p paint, u, v, side float64) paint {
	x := u - side*.5 - h.yaw*.16
	if math.Abs(x) > .5 || v < -.62 || v > .4 {
		return p
	}
	p = h.brow(p, x*side, v)
	s := x / .25
	arch := max(0, 1-s*s)
	arch = math.Pow(arch, .8)
	lower := .01 + .075*arch
	upper := lower - .19*arch*(1-h.lids)

	open := edge(upper-v, .012) * edge(v-lower, .012) * edge(math.Abs(s)-1, .03)
	white := paint{.90, .88, .86}.lit(1 - .30*edge(v-upper-.035, .06) - .12*math.Abs(s))
	gaze := x + h.yaw*.05
	white = white.over(paint{.17, .10, .06}, oval(gaze, v, 0, -.012, .098, .098, 1.8*h.pixel))
	white = white.over(paint{.32, .20, .11}, .8*oval(gaze, v, 0, .01, .07, .06, .05))
	white = white.over(paint{.02, .02, .02}, oval(gaze, v, 0, -.012, .046, .046, 1.8*h.pixel))
	white = white.over(paint{1, 1, 1}, .9*oval(gaze, v, -.03, -.05, .018, .018, 1.5*h.pixel))
	p = p.over(white, open)

	lash := paint{.13, .08, .07}
	p = p.over(lash, .9*edge(math.Abs(v-upper)-.014-.008*arch, .018)*edge(math.Abs(s)-1.04, .08))
	p = p.over(lash, .35*edge(math.Abs(v-lower)-.004, .02)*edge(math.Abs(s)-.95, .1))
	fold := -.035 - .135*math.Pow(arch, .6)
	return p.over(paint{.45, .26, .21}, .45*edge(math.Abs(v-fold)-.004, .03)*edge(math.Abs(s)-.95, .2))
}

// brow paints the brow of an eye. outward grows away from the nose.
func (h head) brow(p paint, outward, v float64) paint {
	s := (outward - .03) / .34
	height := -.37 - .075*(1-(s-.25)*(s-.25)) + .05*max(0, s)
	thick := .052 - .028*max(0, s)
	hair := edge(math.Abs(v-height)-thick, .045) * edge(math.Abs(s)-.95, .5)
	return p.over(paint{.22, .14, .10}.lit(1+.2*grain(outward*3+v, v, .02)), .85*hair)
}

// strands returns the colour of the hair.
func strands(u, v float64) paint {
	shine := glow(u, v, -.55, -1.35, .7, .35)
	return paint{.25, .155, .10}.lit(.82 + .75*shine + .14*grain(u*3.2+.35*v*u, v*.35, .07) - .14*u)
}

// mane returns 1 where there is hair, in front of or behind the face.
func (h head) mane(u, v float64) float64 {
	const top = -.38
	if math.Abs(u) > 1.5 || v < -2 || v > 1.8 {
		return 0
	}
	long := 0.0
	if v > top {
		long = edge(math.Abs(u)-1.4+.05*math.Sin(2.2*(v-top)), 2.5*h.pixel) * edge(v-1.62+.036*u*u*u*u, .06)
	}
	return max(long, oval(u, v, 0, top, 1.4, 1.52, 2.5*h.pixel))
}

// hair paints the hair in front of the face: a parting at the left, and the sides.
func hair(p paint, u, v, mane float64) paint {
	if mane == 0 {
		return p
	}
	w := u + .25
	line := -1.12 + .42*w*w - .10*math.Abs(w)
	if w < 0 {
		line = -1.12 + .95*w*w
	}
	inner := 1.04 + .05*math.Sin(2.5*v) - math.Abs(u)
	sides := edge(inner, .05) * edge(-1-v, .1) * edge(v-1.5+.4*(math.Abs(u)-1), .12)
	front := max(edge(v-line, .05), sides) * mane
	shadow := .30 * edge(v-line-.09, .22) * edge(outline(u, v), .05)
	p = p.over(paint{.35, .2, .15}, shadow*(1-front))
	return p.over(strands(u, v), front)
}

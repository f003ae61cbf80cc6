package demo

import (
	"image/color"
	"math"
)

// paint is a colour, as linear light from 0 to 1 in each channel.
type paint struct{ r, g, b float64 }

// over paints q over p. Opacity 0 leaves p unchanged, and 1 hides it.
func (p paint) over(q paint, opacity float64) paint {
	opacity = min(max(opacity, 0), 1)
	return paint{p.r + (q.r-p.r)*opacity, p.g + (q.g-p.g)*opacity, p.b + (q.b-p.b)*opacity}
}

// lit returns p brighter or, below 1, darker.
func (p paint) lit(by float64) paint { return paint{p.r * by, p.g * by, p.b * by} }

func (p paint) rgba() color.RGBA {
	to8 := func(v float64) uint8 { return uint8(min(max(v, 0), 1)*255 + .5) }
	return color.RGBA{to8(p.r), to8(p.g), to8(p.b), 255}
}

// The shapes below return the coverage of a position, 0 to 1. Lengths are in distances between the
// pupils, as everywhere in this package.

// edge returns 1 inside (d < 0) and 0 outside, with a soft edge of the width.
func edge(d, width float64) float64 {
	t := min(max(.5-d/width, 0), 1)
	return t * t * (3 - 2*t)
}

// oval returns the coverage of an ellipse around x, y with two radii.
func oval(u, v, x, y, rx, ry, width float64) float64 {
	across, down := math.Abs(u-x)/rx, math.Abs(v-y)/ry
	if (max(across, down)-1)*min(rx, ry) > width {
		return 0
	}
	return edge((math.Hypot(across, down)-1)*min(rx, ry), width)
}

// glow returns a round light or shade that fades out from x, y.
func glow(u, v, x, y, rx, ry float64) float64 {
	d := (u-x)*(u-x)/(rx*rx) + (v-y)*(v-y)/(ry*ry)
	if d > 9 {
		return 0
	}
	return math.Exp(-d)
}

// grain returns fixed noise from -1 to 1 with spots of the given size, for pores, strands and
// weave.
func grain(u, v, size float64) float64 {
	x, y := math.Floor(u/size), math.Floor(v/size)
	fx, fy := u/size-x, v/size-y
	fx, fy = fx*fx*(3-2*fx), fy*fy*(3-2*fy)
	i, j := int32(x), int32(y)
	top := hash(i, j) + (hash(i+1, j)-hash(i, j))*fx
	bottom := hash(i, j+1) + (hash(i+1, j+1)-hash(i, j+1))*fx
	return top + (bottom-top)*fy
}

// hash returns a pseudo-random number from -1 to 1 for two integers.
func hash(i, j int32) float64 {
	h := uint32(i)*374761393 + uint32(j)*668265263
	h = (h ^ h>>13) * 1274126177
	return float64(h^h>>16)/float64(math.MaxUint32)*2 - 1
}

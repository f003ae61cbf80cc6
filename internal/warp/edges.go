package warp

import (
	"lipsync/internal/geom"
	"lipsync/internal/pixels"
)

// colours are those of one person's lips, as far as frames were seen: how often
// each level of redness (Cr) occurs between the outer edges of the lips, and each
// level of luma among the reddest quarter.
type colours struct{ red, luma histogram }

// histogram counts levels.
type histogram struct {
	counts [256]int
	total  int
}

func (h *histogram) add(level uint8) {
	h.counts[level]++
	h.total++
}

// quantile returns the level under which a share q of what was counted lies.
func (h *histogram) quantile(q float32) float32 {
	left := int(q * float32(h.total))
	for level, n := range h.counts {
		if left -= n; left < 0 {
			return float32(level)
		}
	}
	return 255
}

// The grid in which the inner edges of the lips are looked for.
const (
	gridColumns, gridRows = 13, 48
	gridHalf              = .55 // of half the width of the mouth
	gridMargin            = .06 // above and below the lips, canonical
)

// Teeth and tongue are less red than lips, the rest of the inside is darker. A place
// with redness R and luma Y counts as
//
//	max((lips' R − R) / (paleShare × range of R), (darkShare − Y / lips' Y) / darkRange) − doubt,
//
// between 1, certainly the inside, and −1, certainly lip. The numbers were chosen by
// the lips of a face mesh on twelve clips of people that no test uses.
const (
	paleShare  = .8
	leastRange = 4 // of redness, in levels: smaller differences are noise
	darkShare  = .65
	darkRange  = .25
	doubt      = .6
	besideLip  = .05 // canonical: as far beyond an edge there must be lip
	lipShare   = .5  // weight of a place there, against one inside
	offMiddle  = .15 // cost of each unit by which the inside lies off the middle of the lips
	lineHeight = .45 // of the height of the lips: where they usually meet
	touching   = .03 // canonical: a gap as small is the dark line between lips that touch
)

// edges returns the y of the inner edges of the lips, in the middle of the mouth:
// those between which it looks most like the inside of a mouth, and beyond which
// it looks like lips. They are equal where the lips touch. The more frames of a
// person it has seen, the better it knows the colours.
func (c *colours) edges(crop *pixels.Crop, to geom.Similarity, m *mouth) (upper, lower float32) {
	g := c.sample(crop, to, m)
	top, step := m.top-gridMargin, (m.lips()+2*gridMargin)/(gridRows-1)
	margin := int(gridMargin/step) + 2
	axis := (m.axis(m.middle()) - top) / step // in rows
	usual := ((m.bottom-m.top)*lineHeight + gridMargin) / step
	best, from, until := float32(0), usual, usual
	upperEdges, lowerEdges := g.edges(axis, -besideLip/step), g.edges(axis, besideLip/step)
	for u := margin; u < gridRows-margin; u++ {
		for l := u + 1; l < gridRows-margin; l++ {
			middle := float32(u) + upperShare*float32(l-u)
			score := score(&upperEdges[u], &lowerEdges[l])*step - offMiddle*step*abs(middle-usual)
			if score > best {
				best, from, until = score, float32(u), float32(l)
			}
		}
	}
	if (until-from)*step < touching {
		y := m.line.at(m, m.middle())
		return y, y
	}
	return top + from*step, top + until*step
}

// dark returns which share of what is seen between the lips is darker than lips are: neither
// teeth nor tongue, and no lip that was taken for the inside.
func (c *colours) dark(crop *pixels.Crop, to geom.Similarity, m *mouth) float32 {
	const columns, rows = 9, 5
	if m.gap() == 0 {
		return 0
	}
	n, most := 0, darkShare*c.luma.quantile(.5)
	for k := range columns {
		x := m.middle() + gridHalf*m.width()/2*(2*float32(k)/(columns-1)-1)
		upper, lower := m.inner(x)
		for r := range rows {
			if pixels.LumaAt(crop.YCbCr, to.Apply(geom.Point{X: x, Y: upper + (lower-upper)*(float32(r)+.5)/rows})) < most {
				n++
			}
		}
	}
	return float32(n) / (columns * rows)
}

// grid holds for each column of a mouth the sums, row by row, of how much a place
// looks like the inside of the mouth (up to 1) or like lips (down to -1).
type grid [gridColumns][gridRows + 1]float32

// sample reads the mouth into a grid that is as tilted as the mouth, and learns
// its colours.
func (c *colours) sample(crop *pixels.Crop, to geom.Similarity, m *mouth) *grid {
	var luma, red [gridColumns][gridRows]float32
	var own histogram
	step := (m.lips() + 2*gridMargin) / (gridRows - 1)
	for k := range gridColumns {
		x := gridHalf * m.width() / 2 * (2*float32(k)/(gridColumns-1) - 1)
		for r := range gridRows {
			q := to.Apply(geom.Point{X: m.middle() + x, Y: m.top - gridMargin + m.tilt()*x + step*float32(r)})
			luma[k][r], red[k][r] = pixels.LumaAt(crop.YCbCr, q), pixels.CrAt(crop.YCbCr, q)
			own.add(uint8(red[k][r]))
			c.red.add(uint8(red[k][r]))
		}
	}
	reddest := own.quantile(.75)
	for k := range gridColumns {
		for r := range gridRows {
			if red[k][r] >= reddest {
				c.luma.add(uint8(luma[k][r]))
			}
		}
	}
	lipRed := (own.quantile(.85) + c.red.quantile(.85)) / 2
	pale := max(paleShare*(c.red.quantile(.85)-c.red.quantile(.05)), leastRange)
	lipLuma := max(c.luma.quantile(.5), 1)
	g := new(grid)
	for k := range gridColumns {
		for r := range gridRows {
			inside := max((lipRed-red[k][r])/pale, (darkShare-luma[k][r]/lipLuma)/darkRange)
			g[k][r+1] = g[k][r] + min(max(inside-doubt, -1), 1)
		}
	}
	return g
}

// edge holds the sums of a grid's columns along the inner edge of a lip, and beside it
// on the lip.
type edge [gridColumns]struct{ at, beside float32 }

// edges returns for each row the edge that is there in the middle of the mouth. beside
// is how many rows farther down the lip is.
func (g *grid) edges(axis, beside float32) (edges [gridRows]edge) {
	for k := range gridColumns {
		a := arch(gridHalf * (2*float32(k)/(gridColumns-1) - 1))
		for r := range edges {
			row := axis + (float32(r)-axis)*a
			edges[r][k].at, edges[r][k].beside = g.at(k, row), g.at(k, row+beside)
		}
	}
	return edges
}

// score tells how well the edges of both lips fit, in rows that look like the inside:
// what lies between them, less some of what lies just beyond.
func score(upper, lower *edge) (sum float32) {
	for k := range gridColumns {
		u, l := &upper[k], &lower[k]
		sum += l.at - u.at - lipShare*(u.at-u.beside+l.beside-l.at)
	}
	return sum / gridColumns
}

// at returns the sum of a column up to a row, which may lie between two.
func (g *grid) at(column int, row float32) float32 {
	row = min(max(row, 0), gridRows)
	i := min(int(row), gridRows-1)
	return g[column][i] + (g[column][i+1]-g[column][i])*(row-float32(i))
}

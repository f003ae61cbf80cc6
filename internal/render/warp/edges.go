package warp

import (
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// colours counts the colours of one person's lips in the frames so far: each level of redness (Cr)
// between the outer edges of the lips, and each level of luma among the reddest places (see
// lipQuarter).
type colours struct{ red, luma histogram }

// histogram counts levels of 0 to 255.
type histogram struct {
	counts [256]int
	total  int
}

func (h *histogram) add(level uint8) {
	h.counts[level]++
	h.total++
}

// quantile returns the level below which the share q of all counts lies.
func (h *histogram) quantile(q float32) float32 {
	left := int(q * float32(h.total))
	for level, n := range h.counts {
		if left -= n; left < 0 {
			return float32(level)
		}
	}
	return 255
}

// The inner edges of the lips are searched for in a grid of these dimensions.
const (
	gridColumns, gridRows = 13, 48
	gridHalf              = .55 // half widths of the mouth to each side of its middle
	gridMargin            = .06 // over and under the lips, canonical
)

// Teeth and tongue are less red than lips, and the rest of the inside is darker. A place with
// redness R and luma Y counts as
//
//	max((lips' R − R) / (paleShare × range of R), (darkShare − Y / lips' Y) / darkRange) − doubt,
//
// between 1, surely the inside, and −1, surely lip. All numbers here were chosen by comparison with
// a face mesh, on twelve clips of people that no test uses.
const (
	paleShare  = .8
	darkShare  = .65
	darkRange  = .25
	doubt      = .6
	leastRange = 4 // of redness, levels: smaller differences are noise

	lipQuarter         = .75      // places from this quantile of a frame's redness on are lips
	lipRedness         = .85      // quantile of redness that is the redness of lips
	leastRed, mostRed  = .05, .85 // quantiles between which the range of redness lies
	besideLip          = .05      // this far beyond an edge there must be lip, canonical
	lipShare           = .5       // weight of a place there; a place inside has 1
	offMiddle          = .15      // cost of each unit between the inside and the place where lips usually meet
	lineHeight         = .45      // lips usually meet at this share of their height, from the top
	touching           = .03      // a smaller gap is the dark line between lips that touch, canonical
	darkCols, darkRows = 9, 5     // places between the lips that are compared with darkShare
)

// edges returns the y of the inner edges of the lips in the middle of the mouth, canonical. It
// picks the two edges that have the most pixels like the inside of a mouth between them, and pixels
// like lips outside. Both are equal if the lips touch. More frames of a person give more exact
// colours.
func (c *colours) edges(crop *pixels.Crop, to geom.Similarity, m *lips) (upper, lower float32) {
	g := c.sample(crop, to, m)
	top, step := m.top-gridMargin, (m.height()+2*gridMargin)/(gridRows-1)
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

// dark returns the share of the inside between the lips that is darker than lips, 0 to 1. The rest
// is teeth, tongue, or lip that was mistaken for the inside.
func (c *colours) dark(crop *pixels.Crop, to geom.Similarity, m *lips) float32 {
	if m.gap() == 0 {
		return 0
	}
	n, most := 0, darkShare*c.luma.quantile(.5)
	for k := range darkCols {
		x := m.middle() + gridHalf*m.width()/2*(2*float32(k)/(darkCols-1)-1)
		upper, lower := m.inner(x)
		for r := range darkRows {
			if pixels.LumaAt(crop.YCbCr, to.Apply(geom.Point{X: x, Y: upper + (lower-upper)*(float32(r)+.5)/darkRows})) < most {
				n++
			}
		}
	}
	return float32(n) / (darkCols * darkRows)
}

// grid holds for each column of a mouth the running sums, from the top down, of the values of its
// places: from 1 for the inside of the mouth to -1 for lips.
type grid [gridColumns][gridRows + 1]float32

// sample reads the mouth into a grid that is as tilted as the mouth, and adds its colours to
// those of the person.
func (c *colours) sample(crop *pixels.Crop, to geom.Similarity, m *lips) *grid {
	var luma, red [gridColumns][gridRows]float32
	var own histogram
	step := (m.height() + 2*gridMargin) / (gridRows - 1)
	for k := range gridColumns {
		x := gridHalf * m.width() / 2 * (2*float32(k)/(gridColumns-1) - 1)
		for r := range gridRows {
			q := to.Apply(geom.Point{X: m.middle() + x, Y: m.top - gridMargin + m.tilt()*x + step*float32(r)})
			luma[k][r], red[k][r] = pixels.LumaAt(crop.YCbCr, q), pixels.CrAt(crop.YCbCr, q)
			own.add(uint8(red[k][r]))
			c.red.add(uint8(red[k][r]))
		}
	}
	reddest := own.quantile(lipQuarter)
	for k := range gridColumns {
		for r := range gridRows {
			if red[k][r] >= reddest {
				c.luma.add(uint8(luma[k][r]))
			}
		}
	}
	lipRed := (own.quantile(lipRedness) + c.red.quantile(lipRedness)) / 2
	pale := max(paleShare*(c.red.quantile(mostRed)-c.red.quantile(leastRed)), leastRange)
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

// edge holds the sums of a grid's columns at the inner edge of a lip, and beside it on the lip.
type edge [gridColumns]struct{ at, beside float32 }

// edges returns for each row the edge that goes through it in the middle of the mouth. axis is the
// row of the line through the corners. beside is the number of rows from the edge down to the lip,
// negative for the upper lip.
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

// score returns how well the edges of both lips fit: the number of rows between them that look like
// the inside, less a share of such rows just beyond them. It is the mean of all columns.
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

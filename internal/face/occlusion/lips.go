package occlusion

import (
	"cmp"
	"slices"

	"lipsync/internal/face/registration"
	"lipsync/internal/signal/dsp"
)

// lipsOf returns the cells of the lips: between the medians of their edges.
func lipsOf(views []view) (lips []int) {
	var edges [4]float32
	for k := range edges {
		var all []float32
		for i := range views {
			if views[i].seen {
				all = append(all, views[i].lips[k])
			}
		}
		edges[k] = dsp.Quantile(all, .5)
	}
	for c := range cells {
		if m := middleOf(c); m.X > edges[0] && m.X < edges[1] && m.Y > edges[2] && m.Y < edges[3] {
			lips = append(lips, c)
		}
	}
	return lips
}

// Lips have a colour of their own. The cells that are most like it tell how much of it is seen: a share of 1/mostLike of the lips' cells,
// since so many are left when a mouth opens, narrows or turns aside. They are looked for up to besideLips columns beside the usual lips,
// and aboveLips and belowLips rows above and below them.
const mostLike, besideLips, aboveLips, belowLips = 4, 1, 3, 4

// leastApart is the least distance of the colours of lips and skin, in levels, that tells anything.
const leastApart = 2

// chroma is Cb and Cr.
type chroma struct{ cb, cr float32 }

// shade is the colour of a person's lips.
type shade struct {
	places []int  // cells in which lips may be
	count  int    // number of cells that are to be like lips
	skin   chroma // what most of the places show
	apart  chroma // the colour of the lips less that of the skin
	usual  *usual
}

// shadeOf returns the colour of the lips in most views.
func shadeOf(u *usual, lips []int) (s shade) {
	first, last := slices.Min(lips), slices.Max(lips)
	left, right := columns, 0
	for _, c := range lips {
		left, right = min(left, c%columns), max(right, c%columns)
	}
	for c := range cells {
		x, y := c%columns, c/columns
		if x >= left-besideLips && x <= right+besideLips && y >= first/columns-aboveLips && y <= last/columns+belowLips {
			s.places = append(s.places, c)
		}
	}
	s.usual, s.count = u, max(len(lips)/mostLike, 1)
	usually := func(c int) chroma { return chroma{u[c].middle[blue], u[c].middle[red]} }
	s.skin = s.middle(usually)
	reddest := slices.SortedFunc(slices.Values(s.places), func(c, d int) int { return cmp.Compare(u[d].middle[red], u[c].middle[red]) })
	for _, c := range reddest[:s.count] {
		s.apart.cb += (u[c].middle[blue] - s.skin.cb) / float32(s.count)
		s.apart.cr += (u[c].middle[red] - s.skin.cr) / float32(s.count)
	}
	return s
}

// middle returns the median colour of the places.
func (s *shade) middle(at func(c int) chroma) chroma {
	cb, cr := make([]float32, len(s.places)), make([]float32, len(s.places))
	for i, c := range s.places {
		cb[i], cr[i] = at(c).cb, at(c).cr
	}
	return chroma{dsp.Quantile(cb, .5), dsp.Quantile(cr, .5)}
}

// inAll returns how much of the lips' colour each view shows: all of it where no cell of the lips is foreign, or where less than half of
// them is surely foreign and the pattern of lips on skin is the usual one, such as that of lips that have paled in another light. Where the
// face wasn't seen it is as in the view before.
func (s *shade) inAll(views []view, scene [][cells]degree, lips []int) []float32 {
	seen := make([]float32, len(views))
	for i := range views {
		if v := &views[i]; !v.seen && i > 0 {
			seen[i] = seen[i-1]
			continue
		}
		strangers, aliens := 0, 0
		for _, c := range lips {
			switch scene[i][c] {
			case strange:
				strangers++
			case alien:
				aliens++
			}
		}
		seen[i] = 1
		if strangers+aliens == 0 {
			continue
		}
		if share := s.seen(&views[i]); share >= lipsHidden || 2*aliens >= len(lips) || s.alike(&views[i]) < samePattern {
			seen[i] = share
		}
	}
	return seen
}

// chroma returns the colour of a cell.
func (v *view) chroma(c int) chroma {
	return chroma{float32(v.colours[c][blue]), float32(v.colours[c][red])}
}

// seen returns how much of the lips' colour a view shows: 1 is as much as most views, 0 is skin, or a thing that has another colour than
// lips. The skin may be the usual one or what most of this view shows, such as a hand: the one that leaves less for the lips counts.
func (s *shade) seen(v *view) float32 {
	if s.apart.cb*s.apart.cb+s.apart.cr*s.apart.cr < leastApart*leastApart {
		return 1
	}
	return min(s.over(s.skin, v.chroma), s.over(s.middle(v.chroma), v.chroma))
}

// samePattern is the least correlation of the pattern of lips on skin with the usual one, at a shift of up to shiftColumns and shiftRows.
const samePattern, shiftColumns, shiftRows = .58, 2, 3

// alike returns the largest correlation of a view's pattern of lips on skin with the usual one.
func (s *shade) alike(v *view) (most float32) {
	var usual, shown []float32
	for dy := -shiftRows; dy <= shiftRows; dy++ {
		for dx := -shiftColumns; dx <= shiftColumns; dx++ {
			usual, shown = usual[:0], shown[:0]
			for _, c := range s.places {
				x, y := c%columns+dx, c/columns+dy
				if x < 0 || x >= columns || y < 0 || y >= rows {
					continue
				}
				usual = append(usual, s.along(chroma{s.usual[c].middle[blue], s.usual[c].middle[red]}, s.skin))
				shown = append(shown, s.along(v.chroma(y*columns+x), s.skin))
			}
			if 3*len(usual) > 2*len(s.places) {
				most = max(most, registration.NCC(usual, shown))
			}
		}
	}
	return most
}

// along returns how far a colour is on the way from a skin to lips of that skin: 0 to 1.
func (s *shade) along(c, skin chroma) float32 {
	return ((c.cb-skin.cb)*s.apart.cb + (c.cr-skin.cr)*s.apart.cr) / (s.apart.cb*s.apart.cb + s.apart.cr*s.apart.cr)
}

// mostAlong is the largest likeness that counts: of a shadow between lips, which is redder than they are.
const mostAlong = 1.5

// over returns the mean likeness to lips of the cells that are most like them, over skin of a colour. A colour off the line from skin to
// lips is less like them.
func (s *shade) over(skin chroma, at func(c int) chroma) (mean float32) {
	length := s.apart.cb*s.apart.cb + s.apart.cr*s.apart.cr
	like := make([]float32, len(s.places))
	for i, c := range s.places {
		beside := ((at(c).cr-skin.cr)*s.apart.cb - (at(c).cb-skin.cb)*s.apart.cr) / length
		like[i] = min(s.along(at(c), skin), mostAlong) - max(beside-.5, -beside-.5, 0)
	}
	slices.Sort(like)
	for _, x := range like[len(like)-s.count:] {
		mean += x / float32(s.count)
	}
	return mean
}

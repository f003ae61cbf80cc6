package mouth

import (
	"image"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/registration"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// look is how a face looks in a picture, no matter whose it is.
type look struct {
	blur  blur
	light light
}

// lookOf reads the look of a face in a picture. to is the similarity from the canonical face to its pixels.
func lookOf(p *image.YCbCr, to geom.Similarity) look {
	g := newUpperFace(p, to)
	return look{g.blur(), g.light(p, to)}
}

// values returns the numbers that describe a look.
func (l *look) values() [7]*float32 {
	return [...]*float32{&l.blur.along, &l.blur.across, &l.light.luma, &l.light.cheeks, &l.light.contrast, &l.light.blue, &l.light.red}
}

// usualLook returns a look whose numbers are the medians of those of examples.
func usualLook(all []*Example) (usual look) {
	column := make([]float32, len(all))
	for k, v := range usual.values() {
		for i := range all {
			column[i] = *all[i].look.values()[k]
		}
		*v = dsp.Quantile(column, .5)
	}
	return usual
}

// upperFace is the luma of the part between brows and nose, which speech doesn't change: row by row, in the grid alignment.Band.
type upperFace []float32

func newUpperFace(p *image.YCbCr, to geom.Similarity) upperFace {
	return lumaIn(p, to, alignment.Band)
}

// lumaIn returns the luma of a picture in the pixels of a grid, row by row. to is the similarity from the canonical face to the picture's pixels.
func lumaIn(p *image.YCbCr, to geom.Similarity, g registration.Grid) []float32 {
	luma := make([]float32, g.Width*g.Height)
	sampler := pixels.NewSampler(p, to.Scale()/g.Scale)
	for i := range luma {
		luma[i] = sampler.Luma(to.Apply(g.Place(i%g.Width, i/g.Width)))
	}
	return luma
}

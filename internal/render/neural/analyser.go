package neural

import (
	"context"
	"image"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/render/engine"
	"lipsync/internal/signal/geom"
)

// analyser records the places of the faces of one video.
type analyser struct {
	engine *Engine
	fps    float64
	tracks map[int]*track // by number
}

// track is a person in a shot.
type track struct {
	first int               // first frame of the track
	to    []geom.Similarity // from the canonical face to the frame's pixels, for each frame from the first on
}

var _ engine.Analyser = (*analyser)(nil)

func (a *analyser) Add(f alignment.Frame) error {
	for _, face := range f.Faces {
		t := a.tracks[face.Track]
		if t == nil {
			t = &track{first: f.Index}
			a.tracks[face.Track] = t
		}
		t.to = append(t.to, face.To)
	}
	return nil
}

func (a *analyser) Plan(_ context.Context, out engine.Output) (engine.Painter, error) {
	p := &painter{a, out, a.engine.mask, a.engine.network.Hear(out.Samples, a.fps)}
	if out.Mask != (order.Mask{}) {
		p.mask = newMask(a.engine.network.View, out.Mask)
	}
	return p, nil
}

// painter paints the mouths of one video by the network.
type painter struct {
	*analyser
	out    engine.Output
	mask   *mask
	speech Speech
}

// at returns the similarity from the canonical face to the speaker's face in a source frame, and whether the frame has that
// face.
func (p *painter) at(source int) (geom.Similarity, bool) {
	t := p.tracks[p.out.Speaker(source)]
	if t == nil || source < t.first || source >= t.first+len(t.to) {
		return geom.Similarity{}, false
	}
	return t.to[source-t.first], true
}

var _ engine.Painter = (*painter)(nil)

func (p *painter) Paint(ctx context.Context, output int, frame *image.YCbCr) ([]engine.Mouth, error) {
	onto, ok := p.at(p.out.Source(output))
	if !ok {
		return nil, nil
	}
	b := p.engine.buffers()
	b.mask = p.mask
	if err := p.speech.Fill(ctx, b.sound, output); err != nil {
		b.mouth[0].Release()
		return nil, err
	}
	b.cut(frame, onto)
	if err := p.engine.queue.Do(ctx, b.item); err != nil {
		return nil, err
	}
	return b.paint(frame, onto)
}

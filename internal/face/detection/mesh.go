package detection

import (
	"context"
	"errors"
	"image"
	"log/slog"
	"math"

	"lipsync/internal/face/eyes"
	"lipsync/internal/network/onnx"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// mesh places landmarks by a network of MediaPipe's kind (Kartynnik et al., "Real-time Facial Surface Geometry from
// Monocular Video on Mobile GPUs", 2019). Its input are the red, green and blue planes of an upright face, from 0
// to 1. Its outputs are the probability that there is a face, and 468 or more points as shares of the picture.
type mesh struct {
	lone, many   runner // for a face that somebody waits for, and for the mouths of many frames; on a GPU they are two
	side         int    // of the input, pixels
	flag, points int    // indices of the outputs
	lips         int    // index of the output of the lips; -1: they are vertices of the mesh
}

// builtInMesh returns the mesh of eyes.Mesh.
func builtInMesh() *mesh {
	n := eyes.Mesh()
	return &mesh{lone: newBuiltIn(n, awaited()), many: newBuiltIn(n, 1), side: eyes.Side, points: 0, lips: 1, flag: 2}
}

const (
	leastVertices = 468
	leastFlag     = .5 // probability of a face
)

// vertices holds vertices of the mesh for each landmark but those of the mouth. The landmark is their mean.
var vertices = [len(Landmarks{})][]int{
	LeftPupil:     {33, 7, 163, 144, 145, 153, 154, 155, 133, 173, 157, 158, 159, 160, 161, 246}, // the eye's outline
	RightPupil:    {263, 249, 390, 373, 374, 380, 381, 382, 362, 398, 384, 385, 386, 387, 388, 466},
	LeftOuterEye:  {33},
	RightOuterEye: {263},
	LeftInnerEye:  {133, 173},
	RightInnerEye: {362, 398},
	LeftBrow:      {46, 70},
	RightBrow:     {276, 300},
	Nose:          {1, 4},
	NoseBase:      {2},
}

// These lengths are shares of the longer side of the mesh. The first two place the box.
const (
	boxOfMesh  = .94  // side of the box
	boxHigher  = .125 // distance of its centre above that of the mesh
	cropOfMesh = 1.5  // side of the network's picture, as in its training
)

// A face isn't the one in a box of a frame shortly before if it is mostMeshMove of the box's side away, or
// mostMeshGrowth times larger or smaller.
const mostMeshMove, mostMeshGrowth = .4, 1.4

// newMesh returns the mesh of sessions of one model, and their networks, even with an error.
func newMesh(ctx context.Context, log *slog.Logger, sessions []*onnx.Session) (m *mesh, networks []*network, err error) {
	width, height := picture(sessions[0])
	if width != height || width == 0 {
		return nil, nil, errors.New("the model's input is not one square picture of a fixed size")
	}
	for i, s := range sessions {
		most := 1
		if i > 0 && s.Inputs()[0].Shape[0] < 0 {
			most = onGPU
		}
		n, err := newNetwork(ctx, log, s, most, 1, 3, height, width)
		if err != nil && most > 1 { // its inner layers may take one face only
			n, err = newNetwork(ctx, log, s, 1, 1, 3, height, width)
		}
		if err != nil {
			return nil, networks, err
		}
		networks = append(networks, n)
	}
	first := networks[0]
	m = &mesh{lone: first, many: networks[len(networks)-1], side: width, flag: -1, points: -1, lips: -1}
	for i, shape := range first.outputs {
		switch size := elements(shape); {
		case size == 1:
			m.flag = i
		case size >= 3*leastVertices && shape[len(shape)-1] == 3:
			m.points = i
		case size >= 2*len(lipVertices) && shape[len(shape)-1] == 2:
			m.lips = i
		}
	}
	if m.flag < 0 || m.points < 0 {
		return nil, networks, errors.New("the model's outputs are not a flag and 468 points")
	}
	return m, networks, nil
}

func (m *mesh) Locate(ctx context.Context, frame *image.YCbCr, near Face) (f Face, ok bool, err error) {
	return m.place(ctx, m.lone, frame, near)
}

func (m *mesh) LocateMouth(ctx context.Context, frame *image.YCbCr, f Face) (Face, bool, error) {
	return m.place(ctx, m.many, frame, f)
}

// place runs the network on the part of the frame around a face.
func (m *mesh) place(ctx context.Context, by runner, frame *image.YCbCr, near Face) (f Face, ok bool, err error) {
	to := m.crop(near)
	err = by.run(ctx, func(input []float32) { m.fill(input, frame, to) }, func(outputs [][]float32) {
		f = m.face(outputs, to)
		ok = outputs[m.flag][0] > leastFlag && f.continues(near.Box) && f.whole()
	})
	return f, ok, err
}

// crop returns the similarity to the frame from the network's picture, whose coordinates are from 0 to 1. The picture is a
// square around the face, in which the pupils are level.
func (m *mesh) crop(near Face) geom.Similarity {
	tilt := tiltOf(near.Landmarks[LeftPupil], near.Landmarks[RightPupil]) // 0 without points
	extent := near.Box.Size / boxOfMesh
	s := turned(tilt, cropOfMesh*extent)
	centre := turned(tilt, extent).Apply(geom.Point{Y: boxHigher})
	half := s.Apply(geom.Point{X: .5, Y: .5})
	s.X, s.Y = near.Box.X+centre.X-half.X, near.Box.Y+centre.Y-half.Y
	return s
}

// tiltOf returns the angle of the line through the left and the right eye, in radians, clockwise.
func tiltOf(left, right geom.Point) float64 {
	return math.Atan2(float64(right.Y-left.Y), float64(right.X-left.X))
}

// turned returns the similarity that turns clockwise by an angle in radians, and scales by a factor.
func turned(angle float64, scale float32) geom.Similarity {
	sin, cos := math.Sincos(angle)
	return geom.Similarity{A: scale * float32(cos), B: scale * float32(sin)}
}

// fill fills the network's input. to is the similarity that crop returned.
func (m *mesh) fill(input []float32, frame *image.YCbCr, to geom.Similarity) {
	step := 1 / float32(m.side)
	s, plane := pixels.NewSampler(frame, to.Scale()*step), m.side*m.side
	pixel := geom.Similarity{A: step, X: step / 2, Y: step / 2} // from pixels to shares of the picture
	s.Square(image.Rect(0, 0, m.side, m.side), m.side, pixel.Then(to), input[:plane], input[plane:2*plane], input[2*plane:])
}

// face returns the face of the network's outputs.
func (m *mesh) face(outputs [][]float32, to geom.Similarity) (f Face) {
	points := outputs[m.points]
	vertex := func(i int) geom.Point { return geom.Point{X: points[3*i], Y: points[3*i+1]} }
	f.Lips = lipsOf(func(i int) geom.Point {
		if m.lips < 0 {
			return to.Apply(vertex(lipVertices[i]))
		}
		return to.Apply(geom.Point{X: outputs[m.lips][2*i], Y: outputs[m.lips][2*i+1]})
	})
	low, high := vertex(0), vertex(0)
	for i := range leastVertices {
		p := vertex(i)
		low.X, low.Y, high.X, high.Y = min(low.X, p.X), min(low.Y, p.Y), max(high.X, p.X), max(high.Y, p.Y)
	}
	for k, of := range vertices {
		var mean geom.Point
		for _, i := range of {
			mean.X += vertex(i).X / float32(len(of))
			mean.Y += vertex(i).Y / float32(len(of))
		}
		f.Landmarks[k] = to.Apply(mean)
	}
	f.Landmarks[LeftCorner], f.Landmarks[RightCorner] = f.Lips.Outer.Upper[0], f.Lips.Outer.Upper[ContourPoints-1]
	f.Landmarks[UpperLip], f.Landmarks[LowerLip] = f.Lips.Outer.Upper[ContourPoints/2], f.Lips.Outer.Lower[ContourPoints/2]
	extent := max(high.X-low.X, high.Y-low.Y)
	centre := to.Apply(geom.Point{X: (low.X + high.X) / 2, Y: (low.Y+high.Y)/2 - boxHigher*extent})
	f.Box = Box{centre.X, centre.Y, boxOfMesh * extent * to.Scale()}
	return f
}

// whole tells whether the lips are near the box. They can't be if a point is NaN.
func (f *Face) whole() bool {
	whole := true
	f.Lips.each(func(p *geom.Point) { whole = whole && geom.Distance(*p, f.Box.Centre()) < f.Box.Size })
	return whole
}

// continues tells whether the face may be the one in a box of a frame shortly before. It can't be if its points are NaN.
func (f *Face) continues(b Box) bool {
	return geom.Distance(f.Box.Centre(), b.Centre()) < mostMeshMove*b.Size &&
		f.Box.Size < mostMeshGrowth*b.Size && b.Size < mostMeshGrowth*f.Box.Size
}

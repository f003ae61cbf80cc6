package warp

import (
	"fmt"
	"image"
	"math"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/stat"

	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/network/onnx"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/onnxtest"
	"lipsync/internal/test/sharedtest"
)

// TestReadsMouths compares the mouths that the engine reads with the points of MediaPipe's face mesh,
// on people by whom no constant of the engine was chosen. It compares the gap between the lips,
// whether they touch, the width, and the smile: how far the corners are over the level of the
// lips. Lengths are canonical.
func TestReadsMouths(t *testing.T) {
	const touching = .03
	for _, c := range []struct {
		file          string
		width, height int
	}{
		{file: "woman.mp4", width: 720, height: 974},
		{file: "talking_man.mp4", width: 512, height: 512},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			s := decodeClip(t, sharedtest.Path(t, "media", c.file), c.width, c.height, 100)
			mesh := openMesh(t)
			a, _ := s.plan(t, openIn(100, false))
			if len(a.tracks) != 1 || len(a.tracks[0].frames) < 90 {
				t.Fatalf("%d people, want one in 90 frames at least", len(a.tracks))
			}
			var opening, width, smile pairs
			same := 0
			track := a.tracks[0]
			for i, o := range track.frames {
				faces := s.faces[track.first+i]
				if len(faces) == 0 {
					continue
				}
				p := mesh.points(t, s.frames[track.first+i], &faces[0])
				unit := o.to.Scale()
				between := func(a, b int) float32 { return geom.Distance(p[a], p[b]) / unit }
				inner := (between(13, 14) + between(81, 178) + between(311, 402)) / 3
				opening.add(o.gap(), inner)
				width.add(o.width(), between(61, 291))
				smile.add(o.level()-(o.left.Y+o.right.Y)/2, (p[13].Y+p[14].Y-p[61].Y-p[291].Y)/2/unit)
				if (o.gap() < touching) == (inner < touching) {
					same++
				}
			}
			agree := float64(same) / float64(len(track.frames))
			t.Logf("%d frames: touching %.2f; opening %v; width %v; smile %v", len(track.frames), agree, opening, width, smile)
			if !(agree >= .7 && opening.correlation() >= .7 && width.correlation() >= .6 && smile.apart() <= .03) { // false for NaN too
				t.Errorf("the engine and the mesh disagree, see above; want .7 of the frames, correlations of .7 and .6, and .03 at most")
			}
		})
	}
}

// pairs are values of the engine and of the mesh for the same frames.
type pairs struct{ read, mesh []float64 }

func (p *pairs) add(read, mesh float32) {
	p.read, p.mesh = append(p.read, float64(read)), append(p.mesh, float64(mesh))
}

func (p pairs) correlation() float64 { return stat.Correlation(p.read, p.mesh, nil) }

// bias returns the mean of the engine's values less the mesh's.
func (p pairs) bias() float64 { return stat.Mean(p.read, nil) - stat.Mean(p.mesh, nil) }

// apart returns the mean absolute difference of the values, without the bias.
func (p pairs) apart() (mean float64) {
	for i := range p.read {
		mean += math.Abs(p.read[i]-p.bias()-p.mesh[i]) / float64(len(p.read))
	}
	return mean
}

func (p pairs) String() string {
	return fmt.Sprintf("correlation %.2f, bias %.3f, apart %.3f", p.correlation(), p.bias(), p.apart())
}

// faceMesh is MediaPipe's network that finds points of a face in a picture of meshSide × meshSide pixels.
type faceMesh struct{ *onnx.Binding }

const meshSide = 192

func openMesh(t *testing.T) faceMesh {
	t.Helper()
	session := onnxtest.Load(t, filepath.Join(onnxtest.Models(t), "facemesh_192.onnx"))
	b, err := session.Bind(t.Context(), [][]int{{1, 3, meshSide, meshSide}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return faceMesh{b}
}

// points returns the mesh of a face, in pixels of the frame.
func (m faceMesh) points(t *testing.T, frame *image.YCbCr, f *tracking.Face) []geom.Point {
	t.Helper()
	left, right := f.Landmarks[detection.LeftPupil], f.Landmarks[detection.RightPupil]
	eyes := geom.Point{X: right.X - left.X, Y: right.Y - left.Y}
	const side = 3.9 / meshSide // the mesh's picture is one and a half times as large as the face
	to := geom.Similarity{A: side * eyes.X, B: side * eyes.Y}
	centre, half := f.Box.Centre(), to.Apply(geom.Point{X: meshSide / 2, Y: meshSide / 2})
	to.X, to.Y = centre.X-half.X-.35*eyes.Y, centre.Y-half.Y+.35*eyes.X
	s := pixels.NewSampler(frame, to.Scale())
	in := m.Input(0)
	for y := range meshSide {
		for x := range meshSide {
			r, g, b := s.RGB(to.Apply(geom.Point{X: float32(x) + .5, Y: float32(y) + .5}))
			i := y*meshSide + x
			in[i], in[meshSide*meshSide+i], in[2*meshSide*meshSide+i] = r, g, b
		}
	}
	if err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var out []float32
	for i := range 2 {
		if o := m.Output(i); len(o) > len(out) {
			out = o
		}
	}
	p := make([]geom.Point, len(out)/3)
	for i := range p {
		p[i] = to.Apply(geom.Point{X: out[3*i] * meshSide, Y: out[3*i+1] * meshSide})
	}
	return p
}

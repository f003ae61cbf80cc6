package musetalk

import (
	"image"
	"math"
	"path/filepath"
	"testing"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/eyes"
	"lipsync/internal/face/tracking"
	"lipsync/internal/network/conv"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/sharedtest"
	"lipsync/internal/test/tracktest"
)

// TestView_long compares the view with the boxes that the published code makes of 68 landmarks, as the mean of 14 people: the edges to
// 2 % of its side, and what its middle shows to 3 rows. People differ more than that: the standard deviation is 4 %.
func TestView_long(t *testing.T) {
	var box published
	people := 0.
	for _, c := range []struct {
		file                  string
		width, height, people int
	}{
		{"woman.mp4", 720, 974, 1}, {"talking_man.mp4", 512, 512, 1}, {"two_people.mp4", 704, 352, 2},
		{"people/child.mp4", 512, 512, 1}, {"people/man_bright_glasses.mp4", 480, 480, 1}, {"people/man_glasses.mp4", 512, 480, 1},
		{"people/man_suit.mp4", 700, 700, 1}, {"people/man_turned.mp4", 844, 844, 1}, {"people/man_walking.mp4", 720, 1280, 1},
		{"people/woman_earrings.mp4", 512, 512, 1}, {"people/woman_far.mp4", 1280, 720, 1}, {"people/woman_grimaces.mp4", 480, 480, 1},
		{"people/woman_hands.mp4", 480, 908, 1},
	} {
		clip := sharedtest.Path(t, "media", filepath.FromSlash(c.file))
		frames := sharedtest.Frames(t, c.width, c.height, "-i", clip, "-vf", "fps=10")
		var all published // of the clip
		faces := 0.
		for _, f := range align(t, frames) {
			if f.Index%4 == 2 {
				for _, face := range f.Faces {
					all.add(boxOf(frames[f.Index], face.To), 1)
					faces++
				}
			}
		}
		if faces < 3 {
			t.Fatalf("%s: %g faces", c.file, faces)
		}
		t.Logf("%s: %.3f", c.file, all.times(1/faces))
		box.add(all.times(1/faces), float64(c.people))
		people += float64(c.people)
	}
	box = box.times(1 / people)
	t.Logf("all: %.3f", box)

	width, height := view.Right-view.Left, view.Bottom-view.Top
	for _, c := range []struct {
		what            string
		got, want, most float64
	}{
		{"left edge", view.Left, box.left, .02 * width},
		{"right edge", view.Right, box.right, .02 * width},
		{"upper edge", view.Top, 2*box.nose - box.chin, .02 * height},
		{"lower edge", view.Bottom, box.chin + margin, .02 * height},
		{"middle", (view.Top + view.Bottom) / 2, box.nose + margin/2, 3 * height / side},
	} {
		if !(math.Abs(c.got-c.want) <= c.most) {
			t.Errorf("the %s of the view is at %.3f, want %.3f to %.3f", c.what, c.got, c.want, c.most)
		}
	}
}

// margin is what 10 pixels below the chin are in most clips, canonical.
const margin = .1

// published is what the published code makes a box of, canonical.
type published struct{ left, right, nose, chin float64 }

func (p *published) add(q published, times float64) {
	p.left, p.right = p.left+times*q.left, p.right+times*q.right
	p.nose, p.chin = p.nose+times*q.nose, p.chin+times*q.chin
}

func (p published) times(n float64) (q published) {
	q.add(p, n)
	return q
}

// align returns the aligned faces of frames.
func align(t *testing.T, frames []*image.YCbCr) (aligned []alignment.Frame) {
	t.Helper()
	detector, err := detection.New(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tracker, aligner := tracking.NewTracker(detector, 10), alignment.NewAligner(10)
	for _, frame := range frames {
		faces, cut, err := tracktest.Add(t.Context(), tracker, frame)
		if err != nil {
			t.Fatal(err)
		}
		aligned = append(aligned, aligner.Add(faces, cut)...)
	}
	return append(aligned, aligner.End()...)
}

// boxOf returns the box of a face by the mesh. Its outline is that of the 68 landmarks, and the lowest point but one of the bridge of
// the nose lies between two vertices: on these clips a network of 68 landmarks (dlib's) places it within .01 of there on average, the
// edges within .03, and the chin within .002.
func boxOf(frame *image.YCbCr, to geom.Similarity) published {
	const extent, plane = 4.35, eyes.Side * eyes.Side // of the mesh's picture, canonical, as in tracking
	picture := geom.Similarity{A: extent, X: alignment.Middle.X - extent/2, Y: .65 - extent/2}
	pixel := geom.Similarity{A: 1. / eyes.Side, X: .5 / eyes.Side, Y: .5 / eyes.Side}
	input, outputs := make([]float32, 3*plane), buffers(eyes.Mesh())
	s := pixels.NewSampler(frame, to.Scale()*extent/eyes.Side)
	s.Square(image.Rect(0, 0, eyes.Side, eyes.Side), eyes.Side, pixel.Then(picture).Then(to), input[:plane], input[plane:2*plane], input[2*plane:])
	eyes.Mesh().Run(1, input, outputs...)
	vertex := func(i int) geom.Point { return picture.Apply(geom.Point{X: outputs[0][3*i], Y: outputs[0][3*i+1]}) }
	p := published{left: math.Inf(1), right: math.Inf(-1), nose: float64(vertex(195).Y+vertex(5).Y) / 2, chin: math.Inf(-1)}
	for _, i := range []int{162, 234, 93, 58, 172, 136, 149, 148, 152, 377, 378, 365, 397, 288, 323, 454, 389} {
		x, y := float64(vertex(i).X), float64(vertex(i).Y)
		p.left, p.right, p.chin = min(p.left, x), max(p.right, x), max(p.chin, y)
	}
	return p
}

// buffers returns the memory of a network's outputs.
func buffers(n *conv.Network) (outputs [][]float32) {
	_, sizes := n.Sizes()
	for _, size := range sizes {
		outputs = append(outputs, make([]float32, size))
	}
	return outputs
}

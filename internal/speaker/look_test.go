package speaker

import (
	"encoding/binary"
	"image"
	"math"
	"testing"

	"lipsync/internal/face"
	"lipsync/internal/face/facetest"
)

// faceAt is a face with the place between its pupils and their distance.
func faceAt(track int, x, y, eyes float32) (f face.Face) {
	f.Track, f.Box = track, face.Box{X: x, Y: y + eyes/2, Size: 2.4 * eyes}
	f.Points[face.LeftPupil], f.Points[face.RightPupil] = face.Point{X: x - eyes/2, Y: y}, face.Point{X: x + eyes/2, Y: y}
	f.Points[face.LeftCorner], f.Points[face.RightCorner] = face.Point{X: x - eyes/3, Y: y + eyes}, face.Point{X: x + eyes/3, Y: y + eyes}
	return f
}

// TestMotion checks that a mouth's motion is told from that of the head and from
// what landmarks err.
func TestMotion(t *testing.T) {
	wave := func(i int, rate float64) float64 { return math.Sin(float64(i) * rate) }
	for _, test := range []struct {
		name        string
		head        func(i int) facetest.Head
		least, most float32 // mean motion
	}{
		{"still", func(int) facetest.Head { return facetest.Head{X: 160, Y: 110, Eyes: 50} }, 0, lively / 2},
		{"speaks", func(i int) facetest.Head {
			return facetest.Head{X: 160, Y: 110, Eyes: 50, Open: .12 + .12*wave(i, 1.1)}
		}, .12, .6},
		{"opens slowly", func(i int) facetest.Head {
			return facetest.Head{X: 160, Y: 110, Eyes: 50, Open: .1 + .1*wave(i, .08)}
		}, 0, lively / 2},
		{"nods", func(i int) facetest.Head { return facetest.Head{X: 160, Y: 110 + 10*wave(i, .4), Eyes: 50} }, 0, lively / 2},
		{"comes closer", func(i int) facetest.Head { return facetest.Head{X: 160, Y: 110, Eyes: 50 + float64(i)/4} }, 0, lively / 2},
	} {
		l, sum := &look{}, float32(0)
		for i := range 40 {
			h := test.head(i)
			jitter := float32(.02 * h.Eyes * wave(i, 2.3))
			l.at(facetest.Frame(320, 240, h), faceAt(0, float32(h.X)+jitter, float32(h.Y)-jitter, float32(h.Eyes)))
			sum += l.motion / 40
		}
		if sum < test.least || sum > test.most {
			t.Errorf("%s: motion is %.3f, want %.3f to %.3f", test.name, sum, test.least, test.most)
		}
	}
}

// FuzzCast adds any faces to a cast, in any place and of any size.
func FuzzCast(f *testing.F) {
	nan := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
	f.Add(nan, 25., true)
	f.Add([]byte("0123456789abcdef0123456789ABCDEF"), 29.97, false)
	f.Add([]byte{1, 0, 0, 160, 66, 0, 0, 240, 65, 0, 0, 32, 65, 1, 0, 0, 160, 66, 0, 0, 240, 65, 0, 0, 32, 65}, 120., true)
	frame := facetest.Frame(64, 48, facetest.Head{X: 32, Y: 20, Eyes: 12})
	f.Fuzz(func(t *testing.T, faces []byte, fps float64, network bool) {
		if !(fps > 1 && fps <= 120) {
			t.Skip("no rate of a video")
		}
		c := New(fps, nil)
		if network {
			c = New(fps, &Network{})
		}
		fuzzCast(t, c, frame, faces)
	})
}

// fuzzCast takes 13 bytes for each face: one tells its track, whether it is the frame's
// last, and whether there is a cut, the others its place and size.
func fuzzCast(t *testing.T, c *Cast, frame *image.YCbCr, bytes []byte) {
	float := func(i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(bytes[i:])) }
	var faces []face.Face
	frames := 0
	for ; len(bytes) >= 13; bytes = bytes[13:] {
		faces = append(faces, faceAt(int(bytes[0]>>2&7), float(1), float(5), float(9)))
		if bytes[0]&2 == 0 {
			c.Add(frame, faces, bytes[0]&1 > 0)
			faces = nil
			frames++
		}
	}
	c.End()
	active, largest := c.Active(nil), c.Largest()
	for i := range frames {
		if a, l := active(i), largest(i); a < -1 || a > 7 || l < -1 || l > 7 {
			t.Errorf("frame %d: %d speaks, %d is largest", i, a, l)
		}
	}
}

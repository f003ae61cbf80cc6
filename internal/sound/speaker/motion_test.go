package speaker

import (
	"encoding/binary"
	"image"
	"math"
	"slices"
	"testing"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/facetest"
)

// upright returns an aligned, upright face. x and y are the place between its pupils, and eyes is their
// distance, in pixels.
func upright(frame *image.YCbCr, track int, x, y, eyes float32) alignment.Face {
	return alignment.Face{
		Track: track, Box: detection.Box{Size: 2.4 * eyes}, Crop: around(frame, x, y, eyes),
		To: geom.Similarity{A: eyes, X: x - alignment.Middle.X*eyes, Y: y - alignment.Middle.Y*eyes},
	}
}

// tracked returns the face of a drawn head as a tracker finds it.
func tracked(frame *image.YCbCr, track int, h facetest.Head) (f tracking.Face) {
	f.Track, f.Box = track, detection.Box{X: float32(h.X), Y: float32(h.Y + h.Eyes/2), Size: float32(2.4 * h.Eyes)}
	f.Landmarks = h.Landmarks()
	f.Crop = around(frame, float32(h.X), float32(h.Y), float32(h.Eyes))
	return f
}

// around copies the surroundings of a face, as much of them as a tracker does. It returns nil for a face
// outside the frame.
func around(frame *image.YCbCr, x, y, eyes float32) *pixels.Crop {
	if r := frame.Rect; !(x > -eyes && x < float32(r.Dx())+eyes && y > -1e6 && y < 1e6 && eyes < float32(r.Dx()+r.Dy())) {
		return nil
	}
	return pixels.NewCrop(frame, image.Rect(int(x-1.35*eyes), int(y-.8*eyes), int(x+1.35*eyes), int(y+2.15*eyes)), eyes)
}

// TestMotion checks that the motion of a mouth is told from that of the head and from errors of its
// landmarks.
func TestMotion(t *testing.T) {
	wave := func(i int, rate float64) float64 { return math.Sin(float64(i) * rate) }
	for _, test := range []struct {
		name        string
		head        func(i int) facetest.Head
		least, most float32 // mean motion
	}{
		{name: "still", head: func(int) facetest.Head { return facetest.Head{X: 160, Y: 110, Eyes: 50} }, least: 0, most: speakingMotion / 2},
		{name: "speaks", head: func(i int) facetest.Head {
			return facetest.Head{X: 160, Y: 110, Eyes: 50, Open: .12 + .12*wave(i, 1.1)}
		}, least: .12, most: .6},
		{name: "opens slowly", head: func(i int) facetest.Head {
			return facetest.Head{X: 160, Y: 110, Eyes: 50, Open: .1 + .1*wave(i, .08)}
		}, least: 0, most: speakingMotion / 2},
		{name: "nods", head: func(i int) facetest.Head { return facetest.Head{X: 160, Y: 110 + 10*wave(i, .4), Eyes: 50} }, least: 0, most: speakingMotion / 2},
		{name: "comes closer", head: func(i int) facetest.Head { return facetest.Head{X: 160, Y: 110, Eyes: 50 + float64(i)/4} }, least: 0, most: speakingMotion / 2},
	} {
		aligner, o, sum := alignment.NewAligner(25), &follower{}, float32(0)
		see := func(aligned []alignment.Frame) {
			for _, f := range aligned {
				o.add(&f.Faces[0])
				sum += o.motion / 40
			}
		}
		for i := range 40 {
			h := test.head(i)
			frame := facetest.Frame(320, 240, h)
			jitter := .02 * h.Eyes * wave(i, 2.3)
			h.X, h.Y = h.X+jitter, h.Y-jitter
			see(aligner.Add([]tracking.Face{tracked(frame, 0, h)}, false))
		}
		see(aligner.End())
		if o.face == nil || sum < test.least || sum > test.most {
			t.Errorf("%s: motion is %.3f, want %.3f to %.3f", test.name, sum, test.least, test.most)
		}
	}
}

// TestMissed checks that the speaker stays the same through frames in which the tracker missed the face.
func TestMissed(t *testing.T) {
	frame := facetest.Frame(320, 240, facetest.Head{X: 160, Y: 110, Eyes: 50})
	face := tracked(frame, 7, facetest.Head{X: 160, Y: 110, Eyes: 50})
	aligner, a := alignment.NewAligner(25), New(25, nil)
	see := func(aligned []alignment.Frame) {
		for _, f := range aligned {
			a.Add(f)
		}
	}
	missed := []int{10, 24, 25}
	for i := range tracking.LongestGap {
		missed = append(missed, 30+i)
	}
	for i := range 50 {
		var faces []tracking.Face
		if i >= 5 && i < 45 && !slices.Contains(missed, i) {
			faces = append(faces, face)
		}
		see(aligner.Add(faces, i == 0))
	}
	see(aligner.End())
	a.End()
	active := a.Active(nil)
	for i := range 50 {
		want := -1
		if i >= 5 && i < 45 {
			want = 7
		}
		if active(i) != want {
			t.Errorf("frame %d: %d speaks, want %d", i, active(i), want)
		}
	}
}

// FuzzAnalyser adds faces in any place and of any size.
func FuzzAnalyser(f *testing.F) {
	nan := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
	f.Add(nan, 25., true)
	f.Add([]byte("0123456789abcdef0123456789ABCDEF"), 29.97, false)
	f.Add([]byte{1, 0, 0, 160, 66, 0, 0, 240, 65, 0, 0, 32, 65, 1, 0, 0, 160, 66, 0, 0, 240, 65, 0, 0, 32, 65}, 120., true)
	frame := facetest.Frame(64, 48, facetest.Head{X: 32, Y: 20, Eyes: 12})
	f.Fuzz(func(t *testing.T, faces []byte, fps float64, network bool) {
		if !(fps > 1 && fps <= 120) {
			t.Skip("no rate of a video")
		}
		a := New(fps, nil)
		if network {
			a = New(fps, &Network{})
		}
		fuzz(t, a, frame, faces)
	})
}

// fuzz reads 13 bytes for each face. The first tells its track, whether it is the frame's last, and whether
// there is a cut. The others are its place and size. Faces of odd tracks are put in any place, the
// others are aligned by their landmarks.
func fuzz(t *testing.T, a *Analyser, frame *image.YCbCr, bytes []byte) {
	float := func(i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(bytes[i:])) }
	aligner := alignment.NewAligner(25)
	var given []tracking.Face
	var placed [][]alignment.Face // by frame
	var at []alignment.Face
	see := func(aligned []alignment.Frame) {
		for _, f := range aligned {
			f.Faces = append(f.Faces, placed[f.Index]...)
			a.Add(f)
		}
	}
	for ; len(bytes) >= 13; bytes = bytes[13:] {
		track, x, y, eyes := int(bytes[0]>>2&7), float(1), float(5), float(9)
		if track%2 == 1 {
			at = append(at, upright(frame, track, x, y, eyes))
		} else {
			f := tracked(frame, track, facetest.Head{X: float64(x), Y: float64(y), Eyes: float64(eyes)})
			known := slices.ContainsFunc(given, func(g tracking.Face) bool { return g.Track == track })
			if f.Crop != nil && !known { // as trackers do
				given = append(given, f)
			}
		}
		if bytes[0]&2 == 0 {
			placed = append(placed, at)
			see(aligner.Add(given, bytes[0]&1 > 0))
			given, at = nil, nil
		}
	}
	see(aligner.End())
	a.End()
	active := a.Active(nil)
	for i := range placed {
		if a := active(i); a < -1 || a > 7 {
			t.Errorf("frame %d: %d speaks", i, a)
		}
	}
}

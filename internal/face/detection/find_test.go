package detection

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/parallel"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/sharedtest"
)

// TestFindsFaces finds faces in frames of people: turned, small, dark, and with a covered lower half.
func TestFindsFaces(t *testing.T) {
	d, err := New(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	type scene struct {
		frame *image.YCbCr
		face  Face // about where it is
	}
	var scenes []scene
	for _, c := range []struct {
		file                  string
		width, height, frames int
	}{{"talking_man.mp4", 512, 512, 200}, {"woman.mp4", 720, 974, 126}, {"people/man_suit.mp4", 700, 700, 184}, {"people/woman_earrings.mp4", 512, 512, 240}} {
		decoded := sharedtest.Frames(t, c.width, c.height, "-i", sharedtest.Path(t, "media", c.file), "-vf", fmt.Sprintf("select=not(mod(n\\,%d))", c.frames/3), "-fps_mode", "passthrough", "-frames:v", "3")
		for _, f := range decoded {
			faces, err := d.Detect(t.Context(), f, .1)
			if err != nil || len(faces) != 1 {
				t.Fatalf("%s: %d faces, %v; want one", c.file, len(faces), err)
			}
			scenes = append(scenes, scene{f, faces[0]})
		}
	}
	const mostOff = 45 * math.Pi / 180 // of a face whose turn is seen
	for _, c := range []struct {
		name   string
		turn   float64 // degrees
		size   float32 // of the face, pixels
		least  float64
		change func(f *image.YCbCr, at Box)
	}{
		{"upright", 0, 240, 1, nil},
		{"turned by 30°", 30, 240, .95, nil}, {"turned by 45°", 45, 240, .95, nil}, {"turned by 90°", 90, 240, .95, nil}, {"turned by −90°", -90, 240, .95, nil},
		{"turned by 105°", 105, 240, .9, nil},
		{"120 pixels", 0, 120, .95, nil}, {"60 pixels", 0, 60, .9, nil},
		{"dark", 0, 240, .9, darken}, {"covered", 0, 240, .9, cover},
	} {
		found := 0
		for _, s := range scenes {
			frame, at := placed(s.frame, s.face, c.turn, c.size)
			if c.change != nil {
				c.change(frame, at)
			}
			faces, err := d.Detect(t.Context(), frame, .05)
			if err != nil {
				t.Fatal(err)
			}
			if len(faces) > 0 && faces[0].Box.Same(at) {
				face, ok, err := d.Locate(t.Context(), frame, faces[0])
				if err != nil {
					t.Fatal(err)
				}
				if tip, base, lip := face.Landmarks[Nose].Y, face.Landmarks[NoseBase].Y, face.Landmarks[UpperLip].Y; ok && c.turn == 0 && !(tip < base && base < lip) {
					t.Errorf("%s: the nose ends at %.1f, between its tip at %.1f and the lips at %.1f", c.name, base, tip, lip)
				}
				if off := tiltOf(faces[0].Landmarks[LeftPupil], faces[0].Landmarks[RightPupil]) - c.turn*math.Pi/180; ok && math.Cos(off) > math.Cos(mostOff) {
					found++
				}
			}
		}
		share := float64(found) / float64(len(scenes))
		t.Logf("%s: %.2f", c.name, share)
		if share < c.least {
			t.Errorf("%s: %.2f of the faces are found, want %.2f", c.name, share, c.least)
		}
	}
}

// TestUpsideDown sees no upright face in a face that is upside down, or nearly. Between, a face is seen as it is turned, or not at all.
func TestUpsideDown(t *testing.T) {
	d, err := New(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"talking_man.mp4", "people/woman_earrings.mp4"} {
		for i, f := range sharedtest.Frames(t, 512, 512, "-i", sharedtest.Path(t, "media", file), "-vf", "select=not(mod(n\\,40))", "-fps_mode", "passthrough", "-frames:v", "5") {
			faces, err := d.Detect(t.Context(), f, .1)
			if err != nil || len(faces) != 1 {
				t.Fatalf("%s: %d faces, %v; want one", file, len(faces), err)
			}
			for _, degrees := range []float64{120, 130, 140, 160, 180, 200} {
				frame, _ := placed(f, faces[0], degrees, 240)
				found, err := d.Detect(t.Context(), frame, .05)
				if err != nil {
					t.Fatal(err)
				}
				for _, face := range found {
					tilt := tiltOf(face.Landmarks[LeftPupil], face.Landmarks[RightPupil]) * 180 / math.Pi
					if degrees >= 160 || math.Abs(tilt-degrees) > 45 {
						t.Errorf("%s, frame %d, turned by %g°: got a face %v that is turned by %.0f°", file, i, degrees, face.Box, tilt)
					}
				}
			}
		}
	}
}

// placed draws a frame into one of 720p: turned, and of a size such that the face is some pixels high. It returns where the face is.
func placed(from *image.YCbCr, f Face, degrees float64, size float32) (*image.YCbCr, Box) {
	out := image.NewYCbCr(image.Rect(0, 0, 1280, 720), image.YCbCrSubsampleRatio420)
	to := turned(-degrees*math.Pi/180, f.Box.Size/size) // from the new frame to the old one
	centre := to.Apply(geom.Point{X: 640, Y: 360})
	to.X, to.Y = f.Box.X-centre.X, f.Box.Y-centre.Y
	s := pixels.NewSampler(from, to.Scale())
	for i := range out.Y {
		out.Y[i] = 90
	}
	for i := range out.Cb {
		out.Cb[i], out.Cr[i] = 128, 128
	}
	parallel.Each(720, func(y int) {
		for x := range 1280 {
			q := to.Apply(geom.Point{X: float32(x), Y: float32(y)})
			if !image.Pt(int(q.X), int(q.Y)).In(from.Rect) {
				continue
			}
			l, cb, cr := pixels.FromRGB(s.RGB(q))
			out.Y[out.YOffset(x, y)] = uint8(l)
			if x%2 == 0 && y%2 == 0 {
				out.Cb[out.COffset(x, y)], out.Cr[out.COffset(x, y)] = uint8(cb), uint8(cr)
			}
		}
	})
	return out, Box{640, 360, size}
}

// darken leaves a tenth of the light, with noise.
func darken(f *image.YCbCr, _ Box) {
	r := rand.New(rand.NewPCG(1, 2))
	for i, v := range f.Y {
		f.Y[i] = uint8(16 + (float64(v)-16)/10 + 2*r.Float64())
	}
}

// cover draws a grey bar over the mouth and all below it.
func cover(f *image.YCbCr, at Box) {
	for y := int(at.Y + at.Size*.22); y < f.Rect.Max.Y; y++ {
		for x := int(at.X - at.Size); x < int(at.X+at.Size); x++ {
			f.Y[f.YOffset(x, y)] = 110
			f.Cb[f.COffset(x, y)], f.Cr[f.COffset(x, y)] = 128, 128
		}
	}
}

package render

import (
	"bytes"
	"image"
	"image/jpeg"
	"testing"

	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/test/ffmpegtest"
)

// TestPoster wants the painted frame in the middle of an output on its poster. If pieces of an earlier attempt have that frame, it wants the first one after
// them.
func TestPoster(t *testing.T) {
	t.Parallel()
	j := Job{Video: numbered(t, "25", frames), Audio: tone(t, seconds)}
	j.Poster = true
	_, _, made, err := attempt(t, j, inPiece, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantPoster(t, made, frames/2)
	_, pieces := kept(t, j, inPiece, 2)
	j.Pieces = &shelf{pieces: pieces}
	_, from, resumed, err := attempt(t, j, inPiece, 0)
	if err != nil || from != 2*inPiece {
		t.Fatalf("went on with frame %d (%v), want %d", from, err, 2*inPiece)
	}
	wantPoster(t, resumed, from)
	j.Poster, j.Pieces = false, nil
	if _, _, made, err := attempt(t, j, inPiece, 0); err != nil || made.Poster != nil {
		t.Errorf("got a poster of %d bytes (%v), want none", len(made.Poster), err)
	}
}

// wantPoster wants a frame of the output on its poster, with the mouth that was painted.
func wantPoster(t *testing.T, made Result, frame int) {
	t.Helper()
	picture, err := jpeg.Decode(bytes.NewReader(made.Poster))
	if err != nil || made.NoPoster != nil {
		t.Fatal(err, made.NoPoster)
	}
	shown := picture.(*image.YCbCr)
	if source, painted := ffmpegtest.Number(shown, 0), ffmpegtest.Number(shown, paintedAt); source != frame || painted != frame {
		t.Errorf("the poster shows source %d painted %d, want %d", source, painted, frame)
	}
}

// TestPosterOf makes posters of bounded size, in the colours of the frame: red on the left, and blue on the right.
func TestPosterOf(t *testing.T) {
	for name, c := range map[string]struct{ frame, poster image.Point }{
		"wide":  {image.Pt(1280, 720), image.Pt(480, 270)},
		"tall":  {image.Pt(360, 720), image.Pt(240, 480)},
		"small": {image.Pt(64, 48), image.Pt(64, 48)},
		"flat":  {image.Pt(4096, 2), image.Pt(480, 1)},
	} {
		frame := (&medium.Video{Width: c.frame.X, Height: c.frame.Y}).NewFrame()
		for y := range c.frame.Y {
			for x := range c.frame.X {
				of := map[bool][3]uint8{true: {81, 90, 240}, false: {41, 240, 110}}[x < c.frame.X/2] // as BT.601 has red and blue
				frame.Y[frame.YOffset(x, y)] = of[0]
				frame.Cb[frame.COffset(x, y)], frame.Cr[frame.COffset(x, y)] = of[1], of[2]
			}
		}
		made, err := posterOf(frame)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := jpeg.Decode(bytes.NewReader(made))
		if err != nil || picture.Bounds().Size() != c.poster {
			t.Errorf("%s: got %v (%v), want %v", name, picture.Bounds().Size(), err, c.poster)
		}
		if r, g, b, _ := picture.At(c.poster.X/4, c.poster.Y/2).RGBA(); r < 0xd000 || max(g, b) > 0x3000 {
			t.Errorf("%s: red became %x %x %x", name, r, g, b)
		}
		if r, g, b, _ := picture.At(c.poster.X*3/4, c.poster.Y/2).RGBA(); b < 0xd000 || max(r, g) > 0x3000 {
			t.Errorf("%s: blue became %x %x %x", name, r, g, b)
		}
	}
}

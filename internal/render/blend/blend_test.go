package blend

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/engine"
	"lipsync/internal/test/check"
	"lipsync/internal/test/ffmpegtest"
)

// noise makes a picture of random pixels.
func noise(r image.Rectangle, seed uint64) *image.YCbCr {
	random := rand.New(rand.NewPCG(seed, 1))
	p := image.NewYCbCr(r, image.YCbCrSubsampleRatio420)
	for _, plane := range [][]byte{p.Y, p.Cb, p.Cr} {
		for i := range plane {
			plane[i] = byte(random.Uint32())
		}
	}
	return p
}

func clone(p *image.YCbCr) *image.YCbCr {
	c := *p
	c.Y, c.Cb, c.Cr = slices.Clone(p.Y), slices.Clone(p.Cb), slices.Clone(p.Cr)
	return &c
}

// TestBlend compares with the definition, for mouths inside, across each edge
// and outside the frame.
func TestBlend(t *testing.T) {
	var b Blender
	for _, r := range []image.Rectangle{
		image.Rect(8, 6, 24, 20), image.Rect(-6, -4, 10, 8), image.Rect(30, 20, 60, 50),
		image.Rect(-10, -10, 60, 60), image.Rect(50, 50, 60, 60), image.Rect(0, 0, 40, 32),
	} {
		frame := noise(image.Rect(0, 0, 40, 32), 1)
		m := engine.Mouth{Image: noise(r, 2), Mask: image.NewAlpha(r)}
		random := rand.New(rand.NewPCG(3, 1))
		for i := range m.Mask.Pix {
			m.Mask.Pix[i] = []uint8{0, 0, 1, 100, 254, 255, 255}[random.IntN(7)]
		}
		want := clone(frame)
		mixed := func(d, s uint8, alpha float64) uint8 {
			return uint8(math.Round((float64(d)*(255-alpha) + float64(s)*alpha) / 255))
		}
		for y := range 32 {
			for x := range 40 {
				i := want.YOffset(x, y)
				want.Y[i] = mixed(want.Y[i], m.Image.YCbCrAt(x, y).Y, float64(m.Mask.AlphaAt(x, y).A))
				if x%2 == 1 || y%2 == 1 {
					continue
				}
				sum := 0
				for _, p := range []image.Point{{x, y}, {x + 1, y}, {x, y + 1}, {x + 1, y + 1}} {
					sum += int(m.Mask.AlphaAt(p.X, p.Y).A)
				}
				i, alpha := want.COffset(x, y), float64((sum+2)/4)
				want.Cb[i] = mixed(want.Cb[i], m.Image.YCbCrAt(x, y).Cb, alpha)
				want.Cr[i] = mixed(want.Cr[i], m.Image.YCbCrAt(x, y).Cr, alpha)
			}
		}
		b.blend(frame, m, 255)
		if !slices.Equal(frame.Y, want.Y) || !slices.Equal(frame.Cb, want.Cb) || !slices.Equal(frame.Cr, want.Cr) {
			t.Errorf("%v: pixels differ from the definition", r)
		}
	}
}

// TestFade blends a mouth by a share, and checks that a share of 0 changes nothing.
func TestFade(t *testing.T) {
	r := image.Rect(8, 8, 40, 32)
	m := engine.Mouth{Image: noise(r, 2), Mask: image.NewAlpha(r)}
	for i := range m.Mask.Pix {
		m.Mask.Pix[i] = 255
	}
	mask := slices.Clone(m.Mask.Pix)
	for _, share := range []uint8{0, 1, 128, 254, 255} {
		source, frame := noise(image.Rect(0, 0, 64, 48), 1), noise(image.Rect(0, 0, 64, 48), 1)
		mixed := func(a, b byte) byte { return byte(math.Round(float64(a) + (float64(b)-float64(a))*float64(share)/255)) }
		var b Blender
		b.blend(frame, m, share)
		for y := range 48 {
			for x := range 64 {
				want := source.YCbCrAt(x, y)
				if (image.Point{x, y}).In(r) {
					to := m.Image.YCbCrAt(x, y)
					want.Y, want.Cb, want.Cr = mixed(want.Y, to.Y), mixed(want.Cb, to.Cb), mixed(want.Cr, to.Cr)
				}
				if got := frame.YCbCrAt(x, y); got != want {
					t.Fatalf("share %d at (%d, %d): got %v, want %v", share, x, y, got, want)
				}
			}
		}
	}
	if !slices.Equal(m.Mask.Pix, mask) {
		t.Error("the mask changed")
	}
}

// TestTones checks that engines see the tones of a conversion by ffmpeg, and that they come back.
func TestTones(t *testing.T) {
	for _, transfer := range []medium.Transfer{medium.SDR, medium.PQ, medium.HLG} {
		tones := tonesOf(transfer)
		for i, up := range tones.up {
			if back := int(tones.down[up]); i >= 16 && i <= 235 && (back < i-1 || back > i+1) {
				t.Errorf("transfer function %d: %d becomes %d, and that %d", transfer, i, up, back)
			}
			if i > 0 && up < tones.up[i-1] {
				t.Errorf("transfer function %d: %d becomes %d, less than %d", transfer, i, up, tones.up[i-1])
			}
		}
	}
	if sdr := tonesOf(medium.SDR); sdr.down[64] != 16 || sdr.down[940] != 235 || sdr.up[126] != 504 {
		t.Error("tones of SDR change")
	}
	for transfer, name := range map[medium.Transfer]string{medium.PQ: "smpte2084", medium.HLG: "arib-std-b67"} {
		grey := "color=gray:s=256x64:d=0.04:r=25,format=yuv420p10,geq=lum='64+876*X/W':cb=512:cr=512"
		path := ffmpegtest.Make(t, "a.mkv", "-f", "lavfi", "-i", grey, "-c:v", "ffv1", "-color_range", "tv",
			"-color_primaries", "bt2020", "-color_trc", name, "-colorspace", "bt2020nc")
		info, frames := ffmpegtest.Frames(t, path)
		info.Video.Pixels = medium.YUV420P10
		deep, err := ffmpegtest.Tools(t).OpenFrames(t.Context(), info, 1)
		check.Must(t, err)
		defer deep.Close()
		frame := make([]byte, info.Video.FrameSize())
		check.Must(t, deep.ReadPixels(frame))
		converted, tones := frames[0], tonesOf(transfer)
		for x := range 256 {
			value := valueAt(frame, x)
			if got, want := int(tones.down[value]), int(converted.Y[x]); got < want-1 || got > want+1 {
				t.Errorf("transfer function %d: %d becomes %d, want %d", transfer, value, got, want)
			}
		}
	}
}

// TestBlendDeep compares with the definition, for mouths inside, across each edge and outside the frame.
func TestBlendDeep(t *testing.T) {
	for _, format := range []medium.PixelFormat{medium.YUV420P10, medium.YUV422P10, medium.YUVA444P10} {
		v := &medium.Video{Width: 40, Height: 32, Pixels: format}
		hx, hy := format.Halvings()
		b := New(v)
		for _, r := range []image.Rectangle{
			image.Rect(8, 6, 24, 20), image.Rect(-6, -4, 10, 8), image.Rect(30, 20, 60, 50),
			image.Rect(-10, -10, 60, 60), image.Rect(50, 50, 60, 60), image.Rect(0, 0, 40, 32),
		} {
			for _, share := range []uint8{0, 100, 255} {
				m := engine.Mouth{Image: noise(r, 2), Mask: image.NewAlpha(r)}
				for i := range m.Mask.Pix {
					m.Mask.Pix[i] = []uint8{0, 0, 1, 100, 254, 255, 255}[i%7]
				}
				frame := make([]byte, v.FrameSize())
				for i := range len(frame) / 2 {
					binary.LittleEndian.PutUint16(frame[2*i:], uint16(i*37%1024))
				}
				at := 0
				compare := func(hx, hy int, mouth func(x, y int) uint8, painted bool) {
					for y := range v.Height >> hy {
						for x := range v.Width >> hx {
							sum := 0
							for dy := range 1 << hy {
								for dx := range 1 << hx {
									sum += int(m.Mask.AlphaAt(x<<hx+dx, y<<hy+dy).A)
								}
							}
							alpha := math.Round(float64(sum)/float64(int(1)<<(hx+hy))) * float64(share) / 255
							before, got := float64(at*37%1024), float64(valueAt(frame, at))
							want := before
							if painted && (image.Point{x << hx, y << hy}).In(r) {
								want += (4*float64(mouth(x<<hx, y<<hy)) - before) * alpha / 255
							}
							if math.Abs(got-want) > 4 || alpha == 0 && got != before {
								t.Fatalf("%s, %v, share %d: (%d, %d) in halves of %d and %d is %.0f, want %.1f", format, r, share, x, y, hx, hy, got, want)
							}
							at++
						}
					}
				}
				b.blendDeep(frame, m, share)
				compare(0, 0, func(x, y int) uint8 { return m.Image.YCbCrAt(x, y).Y }, true)
				compare(hx, hy, func(x, y int) uint8 { return m.Image.YCbCrAt(x, y).Cb }, true)
				compare(hx, hy, func(x, y int) uint8 { return m.Image.YCbCrAt(x, y).Cr }, true)
				if format.Alpha() {
					compare(0, 0, nil, false)
				}
			}
		}
	}
}

// BenchmarkBlend paints a mouth of a usual size, and one of half a picture.
func BenchmarkBlend(b *testing.B) {
	frame := noise(image.Rect(0, 0, 1920, 1080), 1)
	for _, r := range []image.Rectangle{image.Rect(800, 600, 1000, 760), image.Rect(0, 0, 1920, 540)} {
		b.Run(fmt.Sprintf("%dx%d", r.Dx(), r.Dy()), func(b *testing.B) {
			m := engine.Mouth{Image: noise(r, 2), Mask: image.NewAlpha(r)}
			for i := range m.Mask.Pix {
				m.Mask.Pix[i] = byte(i)
			}
			var painter Blender
			for b.Loop() {
				painter.blend(frame, m, 255)
			}
		})
	}
}

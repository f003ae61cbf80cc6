package warp

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"lipsync/internal/render/engine"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// colour is a colour of a picture.
type colour = color.RGBA

// The colours of the pictures.
var (
	paper  = colour{R: 245, G: 245, B: 245, A: 255}
	white  = colour{R: 255, G: 255, B: 255, A: 255}
	band   = colour{R: 205, G: 205, B: 205, A: 255}
	blue   = colour{R: 60, G: 90, B: 160, A: 255}
	cyan   = colour{R: 0, G: 220, B: 240, A: 255}
	red    = colour{R: 230, G: 40, B: 40, A: 255}
	yellow = colour{R: 250, G: 220, B: 40, A: 255}
	orange = colour{R: 235, G: 130, B: 20, A: 255}
)

// canvas is a picture in the making.
type canvas struct{ *image.RGBA }

// newCanvas returns a white canvas of a size in pixels.
func newCanvas(width, height int) *canvas {
	c := &canvas{image.NewRGBA(image.Rect(0, 0, width, height))}
	c.fill(0, 0, width, height, white)
	return c
}

func (c *canvas) fill(x, y, width, height int, with colour) {
	for j := y; j < y+height; j++ {
		for i := x; i < x+width; i++ {
			c.Set(i, j, with)
		}
	}
}

// point draws a point of 2 × 2 pixels.
func (c *canvas) point(x, y int, with colour) { c.fill(x, y, 2, 2, with) }

// dot draws a point of 5 × 5 pixels.
func (c *canvas) dot(x, y float32, with colour) { c.fill(int(x)-2, int(y)-2, 5, 5, with) }

// line draws a line 2 pixels wide.
func (c *canvas) line(x0, y0, x1, y1 float32, with colour) {
	steps := max(abs(x1-x0), abs(y1-y0), 1)
	for k := float32(0); k <= steps; k++ {
		c.point(int(x0+(x1-x0)*k/steps), int(y0+(y1-y0)*k/steps), with)
	}
}

func (c *canvas) rectangle(left, top, right, bottom float32, with colour) {
	c.line(left, top, right, top, with)
	c.line(right, top, right, bottom, with)
	c.line(right, bottom, left, bottom, with)
	c.line(left, bottom, left, top, with)
}

// colourAt returns the colour of a frame at a place in pixels. It has 64 levels, so that files are small.
func colourAt(f *image.YCbCr, q geom.Point) colour {
	cb, cr := pixels.ChromaAt(f, q)
	r, g, b := pixels.ToRGB(pixels.LumaAt(f, q), cb, cr)
	level := func(v float32) uint8 { return uint8(255*v+.5) &^ 3 }
	return colour{R: level(r), G: level(g), B: level(b), A: 255}
}

// put puts a painted mouth on a frame.
func put(frame *image.YCbCr, m engine.Mouth) {
	for y := m.Mask.Rect.Min.Y; y < m.Mask.Rect.Max.Y; y++ {
		for x := m.Mask.Rect.Min.X; x < m.Mask.Rect.Max.X; x++ {
			if m.Mask.AlphaAt(x, y).A > 0 {
				frame.Y[frame.YOffset(x, y)] = m.Image.Y[m.Image.YOffset(x, y)]
				frame.Cb[frame.COffset(x, y)] = m.Image.Cb[m.Image.COffset(x, y)]
				frame.Cr[frame.COffset(x, y)] = m.Image.Cr[m.Image.COffset(x, y)]
			}
		}
	}
}

const canvasGap = 6 // pixels between pictures beside or below each other

// beside puts canvases in a row.
func beside(all ...*canvas) *canvas {
	width, height := -canvasGap, 0
	for _, c := range all {
		width, height = width+c.Rect.Dx()+canvasGap, max(height, c.Rect.Dy())
	}
	out, x := newCanvas(width, height), 0
	for _, c := range all {
		out.copy(c, x, 0)
		x += c.Rect.Dx() + canvasGap
	}
	return out
}

// below puts canvases in a column.
func below(all ...*canvas) *canvas {
	width, height := 0, -canvasGap
	for _, c := range all {
		width, height = max(width, c.Rect.Dx()), height+c.Rect.Dy()+canvasGap
	}
	out, y := newCanvas(width, height), 0
	for _, c := range all {
		out.copy(c, 0, y)
		y += c.Rect.Dy() + canvasGap
	}
	return out
}

func (c *canvas) copy(from *canvas, x0, y0 int) {
	for y := range from.Rect.Dy() {
		for x := range from.Rect.Dx() {
			c.Set(x0+x, y0+y, from.At(x, y))
		}
	}
}

// write writes the canvas to a PNG file of a name in a folder.
func (c *canvas) write(t *testing.T, folder, name string) {
	t.Helper()
	f, err := os.Create(filepath.Join(folder, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(f, c); err != nil {
		t.Fatal(err)
	}
}

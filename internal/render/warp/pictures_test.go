package warp

import (
	"bytes"
	"encoding/json"
	"flag"
	"image"
	"math"
	"os"
	"strings"
	"testing"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/sound/speech"
	"lipsync/internal/test/check"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/tracktest"
)

var picturesFolder = flag.String("pictures", "", "folder that TestPictures writes the pictures of docs/engine.md to")

// The sentence of the pictures: a LibriVox reader, in the public domain.
const (
	sentence      = "../../sound/speech/testdata/human-librivox.wav"
	sounds        = "../../sound/speech/testdata/sounds.json"
	waveHeader    = 44 // bytes before the samples
	sentenceFrame = 82 // length in frames
)

// story is a drawn head that talks, and the sentence that it is made to say.
type story struct {
	*scene
	aligned []alignment.Frame
	speech  *speech.Speech
	spoken  []speech.Articulation
	a       *analyser
	p       painter
	targets []target // of p
}

// TestPictures draws the pictures of docs/engine.md: make engine-pictures.
func TestPictures(t *testing.T) {
	if *picturesFolder == "" {
		t.Skip("make engine-pictures draws the pictures")
	}
	s := newStory(t)
	for name, picture := range map[string]*canvas{
		"detection": s.drawDetection(), "articulation": s.drawArticulation(t), "reading": s.drawReading(t),
		"plan": s.drawPlan(t), "field": s.drawField(t), "painted": s.drawPainted(t),
	} {
		picture.write(t, *picturesFolder, name)
	}
}

// newStory tracks and aligns the head and plans the sentence.
func newStory(t *testing.T) *story {
	t.Helper()
	detector, err := detection.New(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	wave, err := os.ReadFile(sentence)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{scene: &scene{}}
	s.speech, err = speech.Read(bytes.NewReader(wave[waveHeader:]), check.Scratch(t))
	check.Must(t, err)
	s.spoken, err = s.speech.ArticulationAt(fps, sentenceFrame)
	check.Must(t, err)
	tracker := tracking.NewTracker(detector, fps)
	for i := range sentenceFrame {
		h := facetest.Head{X: 240 + 6*math.Sin(float64(i)/9), Y: 170, Eyes: 104, Turn: .05 * math.Sin(float64(i)/15)}
		h.Open = max((.16*math.Sin(float64(i)*.8)+.07)*(.65+.35*math.Sin(float64(i)/6)), 0)
		frame := facetest.Frame(480, 440, h)
		faces, _, err := tracktest.Add(t.Context(), tracker, frame)
		if err != nil || len(faces) != 1 {
			t.Fatalf("frame %d: %d faces, %v", i, len(faces), err)
		}
		s.frames, s.faces = append(s.frames, frame), append(s.faces, faces)
	}
	s.aligned = s.align()
	s.a = newAnalyser(fps, check.Scratch(t))
	for _, f := range s.aligned {
		if err := s.a.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	_, s.p = s.planOf(t, s.a, s.spoken)
	s.targets = s.p.all(t)
	return s
}

// part is a rectangle of the canonical face.
type part struct{ left, top, right, bottom float32 }

// view returns a part of the canonical face as a frame shows it, scale pixels to a unit.
func view(frame *image.YCbCr, to geom.Similarity, r part, scale float32) *canvas {
	c := newCanvas(int((r.right-r.left)*scale), int((r.bottom-r.top)*scale))
	for y := range c.Rect.Dy() {
		for x := range c.Rect.Dx() {
			c.Set(x, y, colourAt(frame, to.Apply(geom.Point{X: r.left + float32(x)/scale, Y: r.top + float32(y)/scale})))
		}
	}
	return c
}

// drawDetection draws the box, the landmarks and the crop of a face, and beside it the aligned face.
func (s *story) drawDetection() *canvas {
	const at, frameScale, scale = 3, .75, 120 // pixels to one of the frame, and to a canonical unit
	face, aligned := s.faces[at][0], s.aligned[at].Faces[0]
	whole := part{0, 0, float32(s.frames[at].Rect.Dx()), float32(s.frames[at].Rect.Dy())}
	left := view(s.frames[at], geom.Similarity{A: 1}, whole, frameScale)
	half := face.Box.Size / 2
	left.rectangle(frameScale*(face.Box.X-half), frameScale*(face.Box.Y-half), frameScale*(face.Box.X+half), frameScale*(face.Box.Y+half), yellow)
	crop := s.seen(at)[0].Crop.Rect
	left.rectangle(frameScale*float32(crop.Min.X), frameScale*float32(crop.Min.Y), frameScale*float32(crop.Max.X-1), frameScale*float32(crop.Max.Y-1), white)
	all := part{0, -.3, 2.4, 2.45}
	right := view(s.frames[at], aligned.ToMouth(), all, scale)
	mark := func(k int, with colour) {
		p, q := face.Landmarks[k], aligned.Landmarks[k]
		left.dot(frameScale*p.X, frameScale*p.Y, with)
		right.dot((q.X-all.left)*scale, (q.Y-all.top)*scale, with)
	}
	for _, k := range detection.Rigid() {
		mark(k, cyan)
	}
	for _, k := range detection.Mobile() {
		mark(k, red)
	}
	return beside(left, right)
}

// drawArticulation draws the six numbers over time, one below the other. Bands show the sounds that ask for a closure,
// for the lower lip at the teeth and for rounding; lines show the frames that closures close.
func (s *story) drawArticulation(t *testing.T) *canvas {
	t.Helper()
	const wide, high, gap = 9, 56, 8 // pixels of a frame, and of a row
	var known map[string][]struct {
		Start, End float64
		Sound      string
	}
	text, err := os.ReadFile(sounds)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &known); err != nil {
		t.Fatal(err)
	}
	var hops []speech.Articulation
	check.Must(t, s.speech.Articulation(func(a speech.Articulation) { hops = append(hops, a) }))
	numbers := []func(speech.Articulation) float32{
		func(a speech.Articulation) float32 { return a.Opening }, func(a speech.Articulation) float32 { return a.Closure },
		func(a speech.Articulation) float32 { return a.Labiodental }, func(a speech.Articulation) float32 { return a.Rounding },
		func(a speech.Articulation) float32 { return a.Spread }, func(a speech.Articulation) float32 { return a.Silence },
	}
	asking := []string{"", " m b p ", " f v ", " w u U y o O S Z ", "", ""}
	c := newCanvas(sentenceFrame*wide, len(numbers)*(high+gap))
	for row, number := range numbers {
		top := row * (high + gap)
		for x := range c.Rect.Dx() {
			seconds := float64(x) / wide / fps
			hop := min(int(seconds*speech.HopRate), len(hops)-1)
			level := int(high * (1 - number(hops[hop])))
			under := paper
			for _, k := range known["human-librivox"] {
				if seconds >= k.Start && seconds < k.End && strings.Contains(asking[row], " "+k.Sound+" ") {
					under = band
				}
			}
			for y := range high {
				if y >= level {
					c.Set(x, top+y, blue)
				} else {
					c.Set(x, top+y, under)
				}
			}
		}
		for i, a := range s.spoken {
			if row == 1 && a.Closure == 1 {
				x := float32(wide*i + wide/2)
				c.line(x, float32(top), x, float32(top+high-1), red)
			}
		}
	}
	return c
}

// drawReading draws the readings of mouths that are closed, half open and open: outer and inner edges of the lips.
func (s *story) drawReading(tb testing.TB) *canvas {
	tb.Helper()
	const scale = 230
	t := s.a.tracks[s.faces[0][0].Track]
	observed := t.observations(tb)
	var all []*canvas
	for _, share := range []float32{0, .5, 1} {
		at := 0
		for i := range observed {
			if abs(observed[i].Gap()-share*t.person.Most) < abs(observed[at].Gap()-share*t.person.Most) {
				at = i
			}
		}
		o := &observed[at]
		r := part{o.Middle() - .6, o.Level() - .35, o.Middle() + .6, o.Level() + .45}
		c := view(s.frames[t.first+at], o.To, r, scale)
		for x := o.Left.X; x < o.Right.X; x += .5 / scale {
			for _, e := range []struct {
				edge   []float32
				colour colour
			}{{o.Top[:], yellow}, {o.Bottom[:], yellow}, {o.Upper[:], cyan}, {o.Lower[:], cyan}} {
				y := dsp.At(e.edge, float64((x-o.Left.X)/o.Width())*float64(len(e.edge)-1))
				c.point(int((x-r.left)*scale), int((y-r.top)*scale), e.colour)
			}
		}
		all = append(all, c)
	}
	return beside(all...)
}

// drawPlan draws the gaps of the source, of the examples that are shown, and that the speech asks for, and below them the
// source frames of the examples, the last one at the top.
func (s *story) drawPlan(t *testing.T) *canvas {
	t.Helper()
	const wide, high, gap = 9, 110, 14
	c := newCanvas(sentenceFrame*wide, 2*high+gap)
	c.fill(0, 0, c.Rect.Dx(), high, paper)
	c.fill(0, high+gap, c.Rect.Dx(), high, paper)
	source := func(i int) int { return s.targets[i].track.person.bank.examples[s.targets[i].example].frame }
	first, last := source(0), source(0)
	for i := range s.targets {
		first, last = min(first, source(i)), max(last, source(i))
	}
	at := func(i int) float32 { // y of an example's frame
		return 2*high + gap - 4 - (high-8)*float32(source(i)-first)/float32(max(last-first, 1))
	}
	var asked, shown, own float32
	for i, r := range s.targets {
		p := r.track.person
		e := &p.bank.examples[r.example]
		y := func(value float32) float32 { return high - 1 - (high-2)*value/p.Most }
		x := float32(i*wide + wide/2)
		nextAsked, nextShown, nextOwn := y(r.shape.Gap), y(min(e.Shown.Gap(), p.Most)), y(min(s.own(t, i).Gap(), p.Most))
		if i > 0 {
			c.line(x-wide, own, x, nextOwn, band)
			c.line(x-wide, shown, x, nextShown, orange)
			c.line(x-wide, asked, x, nextAsked, blue)
			if p.chooser.jumps(s.targets[i-1].example, r.example) {
				c.line(x-wide/2, high+gap, x-wide/2, 2*high+gap-1, band)
			} else {
				c.line(x-wide, at(i-1), x, at(i), blue)
			}
		}
		asked, shown, own = nextAsked, nextShown, nextOwn
	}
	for i := range s.targets {
		c.dot(float32(i*wide+wide/2), at(i), blue)
	}
	return c
}

// drawField draws a mouth as it is and in four shapes, and below each the same with a grid on the face.
func (s *story) drawField(t *testing.T) *canvas {
	t.Helper()
	const scale, step = 125, .08 // pixels to a unit; from line to line, canonical
	tr := s.a.tracks[s.faces[0][0].Track]
	at, observed := 0, tr.observations(t)
	for i := range observed {
		if abs(observed[i].Gap()-.09) < abs(observed[at].Gap()-.09) {
			at = i
		}
	}
	o, frame := &observed[at], s.frames[tr.first+at]
	grid, toFace := pixels.Copy(frame, frame.Rect), o.To.Inverse()
	for i, luma := range grid.Y {
		q := toFace.Apply(geom.Point{X: float32(i % grid.YStride), Y: float32(i / grid.YStride)})
		for _, v := range []float32{q.X, q.Y} {
			away := float32(math.Abs(math.Remainder(float64(v), step))) * o.To.Scale() // from the nearest line, pixels
			grid.Y[i] = min(grid.Y[i], uint8(float32(luma)*(1-.6*pixels.Unit(1-away))))
		}
	}
	r := part{o.Middle() - .6, o.Nose - .05, o.Middle() + .6, o.Level() + .8}
	own := speech.Articulation{Opening: o.Gap() / tr.person.Most}
	var all []*canvas
	for _, a := range []speech.Articulation{own, {Closure: 1}, {Opening: 1}, {Opening: .35, Rounding: 1}, {Opening: .5, Labiodental: 1}} {
		to := tr.person.Shape(a, o.Width())
		shaped := func(frame *image.YCbCr) *canvas {
			painted := pixels.Copy(frame, frame.Rect)
			if m, ok := mouth.Paint(frame, &mouth.Wanted{Person: &tr.person.Person, Own: *o, Shape: to}); ok {
				put(painted, m)
			}
			return view(painted, o.To, r, scale)
		}
		all = append(all, below(shaped(frame), shaped(grid)))
	}
	return beside(all...)
}

// drawPainted draws six consecutive frames around a closure: the source above, below it the frame of the example that is
// shown, and at the bottom the painted frame.
func (s *story) drawPainted(t *testing.T) *canvas {
	t.Helper()
	const scale, columns = 90, 6
	from := 0
	for i, a := range s.spoken {
		if a.Closure == 1 && i >= columns/2 && i+columns/2 < len(s.spoken) && s.targets[i].track != nil && s.own(t, i).Gap() > s.own(t, from).Gap() {
			from = i
		}
	}
	var all []*canvas
	for i := from - columns/2; i < from+columns/2; i++ {
		o, e := s.own(t, i), &s.targets[i].track.person.bank.examples[s.targets[i].example]
		r := part{o.Middle() - .65, o.Nose - .3, o.Middle() + .65, o.Level() + .65}
		source := view(s.frames[i], o.To, r, scale)
		example := view(s.frames[e.track.first+e.frame], e.Shown.To, r, scale)
		all = append(all, below(source, example, view(s.show(t, s.p, i), o.To, r, scale)))
	}
	return beside(all...)
}

// own returns the observation of the source frame under an output frame.
func (s *story) own(tb testing.TB, i int) *mouth.Observation {
	tb.Helper()
	o, err := s.targets[i].track.frame(s.targets[i].frame)
	check.Must(tb, err)
	return &o
}

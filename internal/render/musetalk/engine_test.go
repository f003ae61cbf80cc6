//go:build cgo

package musetalk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/network/batch"
	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/neural"
	"lipsync/internal/test/neuraltest"
	"lipsync/internal/test/onnxtest"
)

// small returns the parts of small networks with random weights.
func small(t testing.TB) map[catalog.Role]*Part {
	t.Helper()
	return load(t, func(role string) string { return onnxtest.MuseTalk(t, role) })
}

// grey returns the parts of networks that paint grey, with other files for some roles.
func grey(t testing.TB, other map[catalog.Role]string) map[catalog.Role]*Part {
	t.Helper()
	return load(t, func(role string) string {
		if file := other[catalog.Role(role)]; file != "" {
			return file
		}
		return onnxtest.MuseTalkGrey(role).File(t)
	})
}

func load(t testing.TB, file func(role string) string) map[catalog.Role]*Part {
	t.Helper()
	parts := map[catalog.Role]*Part{}
	for _, role := range Roles() {
		p, err := NewPart(t.Context(), role, onnxtest.LoadWith(t, file(string(role)), onnx.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		parts[role] = p
	}
	return parts
}

// start returns the engine of parts with batches of most faces, and what bind makes of the memory of a batch.
func start(t testing.TB, parts map[catalog.Role]*Part, most int, bind func(faces int, b batch.Binding, err error) (batch.Binding, error)) *neural.Engine {
	t.Helper()
	h, err := newHearing(t.Context(), parts[catalog.MuseTalkHearing], slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	n := chained(parts, h)
	n.Most = most
	n.Bind = func(ctx context.Context, faces int) (batch.Binding, error) {
		b, err := link(ctx, parts, faces)
		if bind != nil {
			return bind(faces, b, err)
		}
		return b, err
	}
	e, err := neural.New(t.Context(), n, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(e.Close(), h.Close()); err != nil {
			t.Error(err)
		}
	})
	return e
}

// longSound is the sound of export/reference.py with that name.
func longSound(seconds int) *io.SectionReader {
	samples := make([]int16, seconds*16000)
	for i := range samples {
		n, tones, second := uint32(i), -2*16384, i/16000
		for _, k := range []int{7, 9} {
			tones += max(int(uint16(n*n>>k))-32768, 32768-int(uint16(n*n>>k)))
		}
		noise := int(n*n*1103515245>>16) - 32768
		samples[i] = int16((tones*(second*second*7%31) + noise*(second%5)) >> 6)
	}
	return neuraltest.PCM(samples)
}

// TestLongSound compares spectrograms and what frames hear with the published code: of 5, 35 and 90 s, at 7 rates. Speech of more than
// 30 s is cut into our stretches in both.
func TestLongSound(t *testing.T) {
	p, err := NewPart(t.Context(), catalog.MuseTalkHearing, onnxtest.Load(t, onnxtest.MuseTalk(t, "musetalk-hearing")))
	if err != nil {
		t.Fatal(err)
	}
	h, err := newHearing(t.Context(), p, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	all := golden(t, "long.f32", 13083)
	next := func(numbers []float32, every int) (off float64) { // of numbers that are as far apart
		for i := 0; i < len(numbers); i += every {
			if off = max(off, math.Abs(float64(numbers[i]-all[0]))); (numbers[i] == 0) != (all[0] == 0) {
				off = math.Inf(1)
			}
			all = all[1:]
		}
		return off
	}
	for _, c := range []struct{ seconds, stretches int }{{5, 1}, {35, 2}, {90, 4}} {
		samples := longSound(c.seconds)
		for k := range c.stretches {
			if off := next(melOf(t, samples, int64(k)*shift*stepSamples), 997); !(off <= 1e-4) {
				t.Errorf("%d s, stretch %d: the spectrogram is off by %g, want at most 1e-4", c.seconds, k, off)
			}
		}
		speech := h.listen(samples, 0)
		for _, ms := range []int{
			0, 60, 1000, 2510, 4900, 4990, 15000, 27930, 28010, 29960, 34900, 34990, 53950, 54020, 70000, 79980, 80050, 89900, 89990,
		} {
			if ms >= 1000*c.seconds {
				break
			}
			for _, rate := range []struct{ frames, seconds int }{{24000, 1001}, {24, 1}, {25, 1}, {30000, 1001}, {30, 1}, {50, 1}, {60, 1}} {
				speech.fps = float64(rate.frames) / float64(rate.seconds)
				frame := ms * rate.frames / (1000 * rate.seconds)
				if off := next(fill(t, speech, frame), 37); !(off <= .01) { // numbers of 16 bits
					t.Errorf("%d s, %v, frame %d: what it hears is off by %g, want at most .01", c.seconds, rate, frame, off)
				}
			}
		}
	}
	if len(all) > 0 {
		t.Errorf("%d numbers were not compared", len(all))
	}
}

// TestChainEqualsReference compares the picture that the networks make in a row, in a batch of two, with that of the published code.
func TestChainEqualsReference(t *testing.T) {
	l, err := link(t.Context(), small(t), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const n = side * side
	pictures, heard := l.Input(0), l.Input(1)[len(l.Input(1))/2:] // the second face; the first is black
	for i := range 6 * n {
		c, y, x := float64(i/n%3), float64(i/side%side), float64(i%side)
		pictures[6*n+i] = float32(math.Sin(x*.05+c) * math.Cos(y*.03+x*y*.0005-c))
		if i < 3*n && y >= side/2 {
			pictures[6*n+i] = -1
		}
	}
	copy(heard, golden(t, "windows.f32", 6*len(heard))[3*len(heard):])
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/painted.rgb") // of every fourth pixel
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	off := make([]float64, len(want))
	for i, v := range want {
		c, y, x := i%3, i/3/64*4, i/3%64*4
		got := math.Round(float64(min(max(l.Output(0)[(3+c)*n+y*side+x], 0), 1)) * 255)
		off[i] = math.Abs(got - float64(v))
		sum += off[i] / float64(len(want))
	}
	slices.Sort(off)
	if most := off[len(off)*999/1000]; !(sum <= .5 && most <= 3) {
		t.Errorf("levels are %.2f off on average, and 999 of 1000 at most %g, want at most .5 and 3", sum, most)
	}
}

// paintAll paints frames in an order, some at once, and returns the pixels under the masks.
func paintAll(t *testing.T, p engine.Painter, drawn []*image.YCbCr, order []int) [][]byte {
	t.Helper()
	all := make([][]byte, len(drawn))
	var painting errgroup.Group
	painting.SetLimit(3)
	for _, i := range order {
		painting.Go(func() error {
			mouths, err := p.Paint(t.Context(), i, drawn[i])
			for _, m := range mouths {
				for k, a := range m.Mask.Pix {
					if a > 0 {
						all[i] = append(all[i], m.Image.Y[k], a)
					}
				}
				m.Release()
			}
			return err
		})
	}
	if err := painting.Wait(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestChain paints a head by small networks. The bits of a frame don't depend on the frames that are painted beside it, on their
// order, or on the part of a job that is painted: so pieces of an output can be resumed. Another sound gives another mouth.
func TestChain(t *testing.T) {
	parts := small(t)
	var log bytes.Buffer
	e, err := New(t.Context(), parts, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if !strings.Contains(log.String(), `level=WARN msg="musetalk is slow`) {
		t.Errorf("got the log %s, want a warning that there is no GPU", &log)
	}
	a, drawn := neuraltest.Draw(t, e, 25, 320, 300, 4, neuraltest.Still)
	want := paintAll(t, neuraltest.Plan(t, a, 25, 4), drawn, []int{0, 1, 2, 3})
	for i := range want {
		if len(want[i]) < 1000 {
			t.Fatalf("frame %d: %d pixels were painted", i, len(want[i]))
		}
	}
	for name, most := range map[string]int{"one by one": 1, "in batches": 2} {
		again := start(t, parts, most, nil)
		a, drawn := neuraltest.Draw(t, again, 25, 320, 300, 4, neuraltest.Still)
		got := paintAll(t, neuraltest.Plan(t, a, 25, 4), drawn, []int{3, 2, 1})
		for i := 1; i < 4; i++ {
			if !bytes.Equal(got[i], want[i]) {
				t.Errorf("%s: frame %d differs", name, i)
			}
		}
	}
	p, err := a.Plan(t.Context(), engine.Output{
		Frames: 4, Source: func(output int) int { return output }, Speaker: func(int) int { return neuraltest.Track }, Samples: sound(t, "testdata/sound.wav"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if other := paintAll(t, p, drawn, []int{3}); bytes.Equal(other[3], want[3]) {
		t.Error("another sound gives the same mouth")
	}
}

// TestHalves starts with too little memory for batches of more than two faces, and paints all the same.
func TestHalves(t *testing.T) {
	e := start(t, grey(t, nil), 8, func(faces int, b batch.Binding, err error) (batch.Binding, error) {
		if err == nil && faces > 2 {
			return nil, errors.Join(fmt.Errorf("musetalk-decoder: %w", onnx.ErrMemory), b.Close())
		}
		return b, err
	})
	if got := e.Workers(); got != 4 {
		t.Errorf("%d workers, want 4", got)
	}
	a, drawn := neuraltest.Draw(t, e, 25, 320, 300, 6, neuraltest.Still)
	for i, painted := range paintAll(t, neuraltest.Plan(t, a, 25, 6), drawn, []int{0, 1, 2, 3, 4, 5}) {
		if len(painted) == 0 {
			t.Errorf("frame %d was not painted", i)
		}
	}
}

// TestFaults checks the errors of engines that can't be opened, or that make no picture.
func TestFaults(t *testing.T) {
	discard := slog.New(slog.DiscardHandler)
	for _, role := range Roles() {
		parts := grey(t, nil)
		delete(parts, role)
		_, err := New(t.Context(), parts, discard)
		if want := fmt.Sprintf("musetalk has no model of the role %s: add one with lipsync models add %[1]s FILE", role); err == nil || err.Error() != want {
			t.Errorf("without %s: got %v, want %q", role, err, want)
		}
	}
	wide := grey(t, map[catalog.Role]string{catalog.MuseTalkHearing: onnxtest.MuseTalk(t, "musetalk-hearing")})
	if _, err := New(t.Context(), wide, discard); err == nil || !strings.Contains(err.Error(), "takes states of 8 numbers, and that of the role musetalk-hearing makes states of 32") {
		t.Errorf("another width: got %v", err)
	}
	mute := onnxtest.MuseTalkGrey("musetalk-decoder")
	mute.Initializers[2].Floats[0] = float32(math.NaN())
	e, err := New(t.Context(), grey(t, map[catalog.Role]string{catalog.MuseTalkDecoder: mute.File(t)}), discard)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, drawn := neuraltest.Draw(t, e, 25, 320, 300, 2, neuraltest.Still)
	if _, err := neuraltest.Plan(t, a, 25, 2).Paint(t.Context(), 1, drawn[1]); err == nil || err.Error() != "musetalk: the network made a value that is not a number" {
		t.Errorf("no number: got %v", err)
	}
}

// TestOtherOutput tries a network whose output has another size than it says.
func TestOtherOutput(t *testing.T) {
	g := onnxtest.MuseTalkGrey("musetalk-encoder")
	g.Initializers[1].Ints = []int64{4, 32, 16}
	g.Outputs[0].Shape = []int{-1, -1, -1, -1}
	_, err := NewPart(t.Context(), catalog.MuseTalkEncoder, onnxtest.Load(t, g.File(t)))
	if err == nil || !strings.HasPrefix(err.Error(), "musetalk-encoder: the network can't be run: ") {
		t.Errorf("got %v", err)
	}
}

// TestInputs checks what the networks get: the hidden half and the whole face from -1 to 1, in red, green and blue.
func TestInputs(t *testing.T) {
	parts := grey(t, nil)
	var got []float32
	e := start(t, parts, 1, func(_ int, b batch.Binding, err error) (batch.Binding, error) {
		return spy{b, func() { got = slices.Clone(b.Input(0)) }}, err
	})
	a, drawn := neuraltest.Draw(t, e, 25, 320, 300, 1, neuraltest.Still)
	for i := range drawn[0].Y {
		drawn[0].Y[i] = 81
	}
	for i := range drawn[0].Cb {
		drawn[0].Cb[i], drawn[0].Cr[i] = 90, 240 // red
	}
	p, err := a.Plan(t.Context(), engine.Output{
		Frames: 1, Source: func(int) int { return 0 }, Speaker: func(int) int { return neuraltest.Track }, Samples: io.NewSectionReader(bytes.NewReader(nil), 0, 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	neuraltest.Mouth(t, p, 0, drawn[0]).Release()
	const n = side * side
	for i, v := range got {
		want := []float32{1, -1, -1}[i/n%3]
		if i < 3*n && i%n >= n/2 {
			want = -1
		}
		if math.Abs(float64(v-want)) > 1e-2 {
			t.Fatalf("picture %d, channel %d, row %d: %g, want %g", i/(3*n), i/n%3, i%n/side, v, want)
		}
	}
}

// spy is a binding that calls a function before each run.
type spy struct {
	batch.Binding
	before func()
}

func (s spy) Run(ctx context.Context) error {
	s.before()
	return s.Binding.Run(ctx)
}

package speaker

import (
	"context"
	"fmt"

	"lipsync/internal/onnx"
)

// Network tells by sound and picture whether a face speaks: Light-ASD (Liao and
// others, "A Light Weight Model for Active Speaker Detection", 2023). It tells
// who speaks from who doesn't, but not who of two who move their mouths is heard.
type Network struct {
	session      *onnx.Session
	sound, faces int // which inputs
}

// NewNetwork returns the network of a session, or an error that says what is
// wrong with its shapes.
func NewNetwork(session *onnx.Session) (*Network, error) {
	n := &Network{session: session, sound: -1, faces: -1}
	inputs, outputs := session.Inputs(), session.Outputs()
	for i, in := range inputs {
		if fits(in, soundShape) {
			n.sound = i
		} else if fits(in, facesShape) {
			n.faces = i
		}
	}
	if len(inputs) != 2 || n.sound < 0 || n.faces < 0 || len(outputs) != 1 || !fits(outputs[0], scoresShape) {
		return nil, fmt.Errorf("a network that tells who speaks makes scores of 1 × T from sound of 1 × 4T × %d and faces of 1 × T × %d × %[2]d, for any T; not %v from %v",
			coefficients, cropSize, outputs, inputs)
	}
	return n, nil
}

// The shapes of what the network takes and makes for some ticks.
func soundShape(ticks int) []int  { return []int{1, ticks * hopsPerTick, coefficients} }
func facesShape(ticks int) []int  { return []int{1, ticks, cropSize, cropSize} }
func scoresShape(ticks int) []int { return []int{1, ticks} }

// fits tells whether a tensor takes any number of ticks.
func fits(tensor onnx.Info, shape func(ticks int) []int) bool {
	return tensor.Shape != nil && tensor.Fits(shape(1)) && tensor.Fits(shape(windowTicks))
}

// scorer is the use of a network for one video.
type scorer struct {
	*Network
	binding *onnx.Binding // for windows as long as the last one, rounded
	length  int           // ticks
}

// score returns how surely the window's face speaks at each of its ticks: above
// 0 if it does.
func (s *scorer) score(ctx context.Context, w *Window, sound *Cepstra) ([]float32, error) {
	if err := s.bind(ctx, rounded(len(w.crops))); err != nil {
		return nil, err
	}
	heard, seen := s.binding.Input(s.sound), s.binding.Input(s.faces)
	for i := range s.length * hopsPerTick {
		row := sound.at(w.from*hopsPerTick + i)
		copy(heard[i*coefficients:], row[:])
	}
	for i := range s.length {
		c := w.crops[min(i, len(w.crops)-1)] // the face stays as it is at the end
		for k, v := range c {
			seen[i*len(c)+k] = float32(v)
		}
	}
	if err := s.binding.Run(ctx); err != nil {
		return nil, err
	}
	return s.binding.Output(0)[:len(w.crops)], nil
}

// rounded is the length that a window of so many ticks is filled up to. For each
// length that it meets, ONNX Runtime keeps memory of its own.
func rounded(ticks int) int {
	switch {
	case ticks <= windowTicks/4:
		return windowTicks / 4
	case ticks <= windowTicks/2:
		return windowTicks / 2
	}
	return windowTicks
}

// bind makes the memory for windows of a length; most are of the same.
func (s *scorer) bind(ctx context.Context, length int) error {
	if length == s.length {
		return nil
	}
	if err := s.close(); err != nil {
		return err
	}
	inputs := make([][]int, 2)
	inputs[s.sound], inputs[s.faces] = soundShape(length), facesShape(length)
	binding, err := s.session.Bind(ctx, inputs, [][]int{scoresShape(length)})
	if err != nil {
		return err
	}
	s.binding, s.length = binding, length
	return nil
}

func (s *scorer) close() error {
	if s.binding == nil {
		return nil
	}
	binding := s.binding
	s.binding, s.length = nil, 0
	return binding.Close()
}

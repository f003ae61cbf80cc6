package speaker

import (
	"context"
	"fmt"
	"slices"

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
		switch {
		case fits(in.Shape, 1, -1, coefficients):
			n.sound = i
		case fits(in.Shape, 1, -1, cropSize, cropSize):
			n.faces = i
		}
	}
	if len(inputs) != 2 || n.sound < 0 || n.faces < 0 {
		return nil, fmt.Errorf("a network that tells who speaks takes 1 × 4T × %d of sound and 1 × T × %d × %[2]d of a face, not %v",
			coefficients, cropSize, inputs)
	}
	if len(outputs) != 1 || !fits(outputs[0].Shape, 1, -1) {
		return nil, fmt.Errorf("a network that tells who speaks gives 1 × T scores, not %v", outputs)
	}
	return n, nil
}

// fits tells whether tensors of the wanted shape can be those of the shape. -1
// stands for any number, and has to there.
func fits(shape []int, want ...int) bool {
	return slices.EqualFunc(shape, want, func(have, want int) bool {
		return have == -1 || have == want
	})
}

// scorer is the use of a network for one video.
type scorer struct {
	*Network
	binding *onnx.Binding // for windows of the last one's length
	length  int
}

// score returns how surely the window's face speaks at each of its ticks: above
// 0 if it does.
func (s *scorer) score(ctx context.Context, w *Window, sound *Cepstra) ([]float32, error) {
	if err := s.bind(len(w.crops)); err != nil {
		return nil, err
	}
	heard, seen := s.binding.Input(s.sound), s.binding.Input(s.faces)
	for i := range len(w.crops) * hopsPerTick {
		row := sound.at(w.from*hopsPerTick + i)
		copy(heard[i*coefficients:], row[:])
	}
	for i, c := range w.crops {
		for k, v := range c {
			seen[i*len(c)+k] = float32(v)
		}
	}
	if err := s.binding.Run(ctx); err != nil {
		return nil, err
	}
	return s.binding.Output(0), nil
}

// bind makes the memory for windows of a length; most are of the same.
func (s *scorer) bind(length int) error {
	if length == s.length {
		return nil
	}
	if err := s.close(); err != nil {
		return err
	}
	inputs := make([][]int, 2)
	inputs[s.sound] = []int{1, length * hopsPerTick, coefficients}
	inputs[s.faces] = []int{1, length, cropSize, cropSize}
	binding, err := s.session.Bind(inputs, [][]int{{1, length}})
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

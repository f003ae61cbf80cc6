package speaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"lipsync/internal/network/onnx"
)

// Network scores by sound and picture whether a face speaks. It is Light-ASD (Liao and others, "A
// Light Weight Model for Active Speaker Detection", 2023). It distinguishes a person who speaks from one
// who doesn't. If two people move their mouths, it can't say which of them is heard.
type Network struct {
	sessions     []*onnx.Session           // one for all windows, or one for the windows of each of lengths
	sound, faces int                       // indices of the inputs
	bindings     *onnx.Pool[*onnx.Binding] // by the length of windows, in ticks
	log          *slog.Logger
}

// Sessions returns the number of sessions of the model that NewNetwork should get. A GPU plans a session again whenever the shapes of
// its inputs change, so windows of each length have a session of their own there.
func Sessions(p onnx.Provider) int {
	if p == onnx.CPU {
		return 1
	}
	return len(lengths())
}

// NewNetwork returns the network of sessions of one model: of a single one, or of as many as Sessions says. If its shapes are
// wrong, the error says which shapes it must have. NewNetwork runs the network on a window of each length, so that other faults show
// now and not in a job. Faults in jobs are logged.
func NewNetwork(ctx context.Context, sessions []*onnx.Session, log *slog.Logger) (*Network, error) {
	n := &Network{sessions: sessions, sound: -1, faces: -1, log: log}
	inputs, outputs := sessions[0].Inputs(), sessions[0].Outputs()
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
	n.bindings = onnx.NewPool(len(lengths()), n.bind)
	if err := n.try(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the network that tells who speaks can't be run: %w", err), n.Close())
	}
	return n, nil
}

// Close frees the memory of the network, but not its sessions.
func (n *Network) Close() error { return n.bindings.Close() }

// try runs the network on a window of zeros of each length.
func (n *Network) try(ctx context.Context) error {
	for _, length := range lengths() {
		w := &Window{crops: slices.Repeat([]*crop{new(crop)}, length)}
		if _, err := n.score(ctx, w, new(MFCC)); err != nil {
			return err
		}
	}
	return nil
}

// bind returns a binding for windows of a length, in ticks.
func (n *Network) bind(ctx context.Context, length int) (*onnx.Binding, error) {
	inputs := make([][]int, 2)
	inputs[n.sound], inputs[n.faces] = soundShape(length), facesShape(length)
	return n.sessions[slices.Index(lengths(), length)%len(n.sessions)].Bind(ctx, inputs, [][]int{scoresShape(length)})
}

// These functions return the shapes of the network's inputs and of its output, for a number of ticks.
func soundShape(ticks int) []int  { return []int{1, ticks * hopsPerTick, coefficients} }
func facesShape(ticks int) []int  { return []int{1, ticks, cropSize, cropSize} }
func scoresShape(ticks int) []int { return []int{1, ticks} }

// fits tells whether a tensor has the shape for any number of ticks.
func fits(tensor onnx.Info, shape func(ticks int) []int) bool {
	return tensor.Shape != nil && tensor.Fits(shape(1)) && tensor.Fits(shape(windowTicks))
}

// score returns the network's score of the window's face at each of its ticks: above 0 if it speaks.
func (n *Network) score(ctx context.Context, w *Window, sound *MFCC) ([]float32, error) {
	length := rounded(len(w.crops))
	b, err := n.bindings.Get(ctx, length)
	if err != nil {
		return nil, err
	}
	defer n.bindings.Put(length, b)
	rows, pictures := b.Input(n.sound), b.Input(n.faces)
	if err := sound.fill(rows[:length*hopsPerTick*coefficients], w.from*hopsPerTick); err != nil {
		return nil, err
	}
	for i := range length {
		c := w.crops[min(i, len(w.crops)-1)] // the last crop fills the rest of the window
		for k, v := range c {
			pictures[i*len(c)+k] = float32(v)
		}
	}
	if err := b.Run(ctx); err != nil {
		return nil, err
	}
	return slices.Clone(b.Output(0)[:len(w.crops)]), nil
}

// lengths returns the lengths of the windows that the network is run on, in ticks. They are few, since
// ONNX Runtime keeps memory for each.
func lengths() []int { return []int{windowTicks / 4, windowTicks / 2, windowTicks} }

// rounded returns the smallest of lengths that is at least the number of ticks.
func rounded(ticks int) int {
	for _, length := range lengths() {
		if ticks <= length {
			return length
		}
	}
	return windowTicks
}

package musetalk

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/network/vet"
)

// These constants are sizes of the networks' inputs and outputs.
const (
	side     = 256 // of a picture, pixels
	latent   = 32  // side of a latent
	depth    = 4   // channels of a latent
	pictures = 2   // of each face: its lower half hidden, and whole

	usualWidth, mostWidth = 384, 2048 // of states: that of Whisper's smallest encoder, and more than that of its largest
)

// chain are the roles of the networks that make a face, in their order.
var chain = []catalog.Role{catalog.MuseTalkEncoder, catalog.MuseTalk, catalog.MuseTalkDecoder}

// Roles returns the roles of the networks that the engine needs.
func Roles() []catalog.Role { return append([]catalog.Role{catalog.MuseTalkHearing}, chain...) }

// Part is one of the engine's networks.
type Part struct {
	role    catalog.Role
	session *onnx.Session
	width   int   // of a state; usualWidth if the network has none
	inputs  []int // indices of the inputs, in the order of wanted
}

// asWide stands in the shapes of wanted for the width of a state, which is that of the model.
const asWide = -2

// wanted returns the shapes of the inputs and of the output of the network of a role. -1 is the number of items.
func wanted(role catalog.Role) (inputs [][]int, output []int) {
	switch role {
	case catalog.MuseTalkHearing:
		return [][]int{{-1, bands, columns}}, []int{-1, steps, layers, asWide}
	case catalog.MuseTalkEncoder:
		return [][]int{{-1, 3, side, side}}, []int{-1, depth, latent, latent}
	case catalog.MuseTalk:
		return [][]int{{-1, pictures * depth, latent, latent}, {-1, window * layers, asWide}}, []int{-1, depth, latent, latent}
	}
	return [][]int{{-1, depth, latent, latent}}, []int{-1, 3, side, side}
}

// shape returns a shape of wanted for n items, -1 for any number.
func (p *Part) shape(of []int, n int) vet.Shape {
	s := append(vet.Shape{n}, of[1:]...)
	for i, size := range s {
		if size == asWide {
			s[i] = p.width
		}
	}
	return s
}

// NewPart returns the part of a role, after it has tried the session.
func NewPart(ctx context.Context, role catalog.Role, session *onnx.Session) (*Part, error) {
	p, err := describe(role, session.Inputs(), session.Outputs())
	if err != nil {
		return nil, err
	}
	p.session = session
	b, err := p.bind(ctx, 1)
	if err == nil {
		err = errors.Join(b.Run(ctx), b.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: the network can't be run: %w", role, err)
	}
	return p, nil
}

// describe returns the part of a role whose network has these inputs and outputs.
func describe(role catalog.Role, inputs, outputs []onnx.Info) (*Part, error) {
	p := &Part{role: role, width: usualWidth}
	in, out := wanted(role)
	for _, info := range slices.Concat(inputs, outputs) {
		for _, s := range append(in, out) {
			if last := len(s) - 1; s[last] == asWide && len(info.Shape) == len(s) {
				p.width = info.Shape[last]
			}
		}
	}
	if p.width < 1 || p.width > mostWidth || len(inputs) != len(in) || len(outputs) != 1 || !p.fits(outputs[0], out) {
		return nil, p.misfit(inputs, outputs)
	}
	for _, s := range in {
		i := slices.IndexFunc(inputs, func(info onnx.Info) bool { return info.Shape != nil && p.fits(info, s) })
		if i < 0 {
			return nil, p.misfit(inputs, outputs)
		}
		p.inputs = append(p.inputs, i)
	}
	return p, nil
}

// fits tells whether an input or output can have a shape of wanted, for any number of items.
func (p *Part) fits(info onnx.Info, want []int) bool {
	return info.Fits(p.shape(want, 1)) && info.Fits(p.shape(want, 2))
}

// misfit returns the error of a model that is not of the role.
func (p *Part) misfit(inputs, outputs []onnx.Info) error {
	if p.width < 1 || p.width > mostWidth {
		p.width = usualWidth
	}
	in, out := wanted(p.role)
	want := make([]vet.Shape, len(in))
	for i, s := range in {
		want[i] = p.shape(s, -1)
	}
	return fmt.Errorf("musetalk: this is no network of the role %s: its inputs are %v and its outputs %v, not %v and %v, for any n",
		p.role, inputs, outputs, want, p.shape(out, -1))
}

// bind returns the memory of runs of n items.
func (p *Part) bind(ctx context.Context, n int) (*onnx.Binding, error) {
	in, out := wanted(p.role)
	shapes := make([][]int, len(in))
	for k, s := range in {
		shapes[p.inputs[k]] = p.shape(s, n)
	}
	return p.session.Bind(ctx, shapes, [][]int{p.shape(out, n)})
}

package conv

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"lipsync/internal/network/half"
)

// file is the list of layers in a network's file.
type file struct {
	Input   int // side of the input, pixels
	Layers  []record
	Outputs []struct {
		Of      int // the tensor
		By      float32
		Sigmoid bool
	}
}

// record is a layer in a file. Tensor 0 is the input, and tensor i the result of layer i, from 1 on.
type record struct {
	Op             string
	From           []int // tensors that it reads
	Channels       int   // of the result
	Stride, Before int   // of windows
	Size           int   // of a part's picture
	Scale, Share   float32
	Level          [2]int
	Points         []int
}

// Bounds of what a file may ask for.
const (
	mostSide   = 1024    // pixels
	mostFloats = 1 << 24 // of all tensors, as if none took the place of another
)

// reader is a network while it is read.
type reader struct {
	network Network
	tensors []*tensor
	lasts   []int  // for each tensor, the last layer that reads it
	halves  []byte // weights that aren't read yet
	floats  int    // of all tensors
	matrix  int    // the largest one, floats
	rest    int    // the largest block of products
}

// Read reads a network from a file, as export/export.py of package eyes writes it: the length of the list of layers, the list
// as JSON, and the weights as floats of 16 bits. It refuses a file whose layers don't fit each other.
func Read(content []byte) (*Network, error) {
	if len(content) < 4 || uint64(binary.LittleEndian.Uint32(content)) > uint64(len(content)-4) {
		return nil, errIncomplete
	}
	end := 4 + int(binary.LittleEndian.Uint32(content))
	decoder := json.NewDecoder(bytes.NewReader(content[4:end]))
	decoder.DisallowUnknownFields()
	var f file
	if err := decoder.Decode(&f); err != nil {
		return nil, fmt.Errorf("the network's layers can't be read: %w", err)
	}
	if f.Input < 2 || f.Input > mostSide || len(f.Outputs) == 0 {
		return nil, errors.New("the network has no input or no output of a possible size")
	}
	input := &tensor{height: f.Input, width: f.Input, channels: colours}
	r := &reader{network: Network{side: f.Input}, tensors: []*tensor{input}, lasts: []int{0}, halves: content[end:]}
	for i, l := range f.Layers {
		if err := r.layer(i, l); err != nil {
			return nil, fmt.Errorf("layer %d of the network, %q: %w", i+1, l.Op, err)
		}
	}
	for _, o := range f.Outputs {
		if o.Of < 1 || o.Of >= len(r.tensors) {
			return nil, fmt.Errorf("the network has no tensor %d for an output", o.Of)
		}
		r.lasts[o.Of] = len(f.Layers)
		r.network.outputs = append(r.network.outputs, output{r.tensors[o.Of], o.By, o.Sigmoid})
	}
	if len(r.halves) > 0 {
		return nil, fmt.Errorf("the network's file has %d bytes too many", len(r.halves))
	}
	return r.done(), nil
}

// done returns the network with the memory of its runs laid out.
func (r *reader) done() *Network {
	// A block may read pixels after the last one that counts, and windows reach further by two.
	after := 0
	for _, t := range r.tensors {
		after = max(after, (Block+2)*t.pitch())
	}
	tensors, matrix, rest, side := arrange(r.tensors, r.lasts)+after, r.matrix, r.rest, r.network.side
	n := &Network{side: side, layers: r.network.layers, outputs: r.network.outputs}
	n.runs.New = func() any { return &run{tensors: make([]float32, tensors)} }
	n.newHand = func() *hand {
		return &hand{matrix: make([]float32, matrix), rest: make([]float32, rest), rows: make([]float32, 3*colours*(side+2))}
	}
	return n
}

var (
	errIncomplete = errors.New("the network's file is incomplete")
	errShape      = errors.New("its tensors have other shapes than it takes")
)

// layer reads layer i.
func (r *reader) layer(i int, l record) (err error) {
	from := make([]*tensor, len(l.From))
	for k, x := range l.From {
		if x < 0 || x >= len(r.tensors) || x == 0 && l.Op != "patches" {
			return fmt.Errorf("there is no tensor %d that it could read", x)
		}
		from[k], r.lasts[x] = r.tensors[x], i
	}
	if least, ok := sources[l.Op]; !ok || len(from) < least.tensors || len(from) > least.tensors+least.more {
		return fmt.Errorf("there is no such layer of %d tensors", len(from))
	}
	var made layer
	to := &tensor{}
	switch l.Op {
	case "patches", "product", "separable", "whole":
		made, err = r.convolution(to, l, from)
	case "depthwise":
		made, err = r.depthwise(to, l, from[0])
	case "frame", "crop", "place":
		made, err = part(to, l, from)
	default:
		made, err = r.resize(to, l, from)
	}
	if err != nil {
		return err
	}
	if to.width > mostSide || to.height > mostSide {
		return errShape
	}
	if r.floats += to.size(); r.floats > mostFloats {
		return errors.New("it takes too much memory")
	}
	r.network.layers, r.tensors, r.lasts = append(r.network.layers, made), append(r.tensors, to), append(r.lasts, i)
	return nil
}

// sources says how many tensors each layer is computed from, and how many more may be added to the result.
var sources = map[string]struct{ tensors, more int }{
	"patches": {1, 0}, "product": {1, 1}, "separable": {1, 1}, "whole": {1, 1}, "depthwise": {1, 0},
	"pool": {1, 0}, "double": {2, 0}, "spread": {1, 0}, "frame": {1, 0}, "crop": {2, 0}, "place": {2, 0},
}

// resize returns a layer that changes the size of a picture, and sets the shape of its result.
func (r *reader) resize(to *tensor, l record, from []*tensor) (layer, error) {
	f := from[0]
	switch l.Op {
	case "pool":
		*to = tensor{height: f.height / 2, width: f.width / 2, channels: f.channels}
		if f.height%2 != 0 || f.width%2 != 0 {
			return nil, errShape
		}
		return pool{f, to}, nil
	case "spread":
		*to = tensor{height: 2 * f.height, width: 2 * f.width, channels: f.channels / 4}
		if f.channels%4 != 0 {
			return nil, errShape
		}
		return spread{f, to}, nil
	}
	*to = tensor{height: 2 * f.height, width: 2 * f.width, channels: f.channels}
	if a := from[1]; a.height != to.height || a.width != to.width || a.channels != to.channels {
		return nil, errShape
	}
	r.matrix = max(r.matrix, f.width*f.pitch())
	return double{f, from[1], to}, nil
}

// part returns a layer of the part of a face, and sets the shape of its result.
func part(to *tensor, l record, from []*tensor) (layer, error) {
	f := from[0]
	if l.Op == "frame" {
		*to = tensor{height: 1, width: 1, channels: 6}
		for _, p := range append(l.Points, l.Level[:]...) {
			if p < 0 || p >= f.channels/3 {
				return nil, fmt.Errorf("there is no point %d", p)
			}
		}
		return frame{f, to, l.Points, l.Level[0], l.Level[1], l.Share, l.Scale, float32(l.Size)}, nil
	}
	if from[1].channels != 6 || l.Op == "place" && f.channels%2 != 0 {
		return nil, errShape
	}
	if l.Op == "crop" {
		if l.Size < 1 || l.Size > mostSide {
			return nil, errShape
		}
		*to = tensor{height: l.Size, width: l.Size, channels: f.channels}
		return crop{f, from[1], to}, nil
	}
	*to = tensor{height: 1, width: 1, channels: f.channels}
	return place{f, from[1], to, l.Share}, nil
}

// windowed returns the shape of the result of windows of 3×3 pixels of a tensor.
func windowed(l record, from *tensor) (tensor, error) {
	to := *from
	switch {
	case l.Stride == 1 && l.Before == 1:
		return to, nil
	case l.Stride == 2 && (l.Before == 0 || l.Before == 1) && from.height%2 == 0 && from.width%2 == 0:
		to.height, to.width = from.height/2, from.width/2
		return to, nil
	}
	return to, fmt.Errorf("there are no windows with a stride of %d that begin %d before", l.Stride, l.Before)
}

// depthwise returns a layer of windows, and sets the shape of its result.
func (r *reader) depthwise(to *tensor, l record, from *tensor) (layer, error) {
	var err error
	if *to, err = windowed(l, from); err != nil {
		return nil, err
	}
	s, err := r.windows(to, l, from)
	return depthwise{s}, err
}

// windows returns windows of a tensor for a result of some height and width, and reads their weights.
func (r *reader) windows(to *tensor, l record, from *tensor) (windows, error) {
	s := windows{from: from, to: to, stride: l.Stride, before: l.Before}
	weights, err := r.take(taps * from.channels)
	if err != nil {
		return s, err
	}
	s.weights = make([]float32, taps*from.pitch())
	for i, w := range weights {
		tap, channel := i/from.channels, i%from.channels
		s.weights[channel/lanes*taps*lanes+tap*lanes+channel%lanes] = w
	}
	r.matrix = max(r.matrix, r.pixels(to)*from.pitch())
	return s, nil
}

// pixels returns how many pixels the matrix of a result needs, with those of a block that isn't full.
func (r *reader) pixels(to *tensor) int { return roundUp(to.together()*(to.width+1), Block) }

// convolution returns a convolution, sets the shape of its result, and reads its weights.
func (r *reader) convolution(to *tensor, l record, from []*tensor) (_ layer, err error) {
	f := from[0]
	c := &convolution{to: to, depth: f.pitch()}
	*to = tensor{height: f.height, width: f.width}
	inputs, channels, pitch := f.channels, f.channels, f.pitch() // of a pixel's row of numbers: all, and those together at a pitch
	switch l.Op {
	case "product":
		c.source = pixels{f}
	case "whole":
		*to = tensor{height: 1, width: 1}
		inputs, c.depth, c.source = f.height*f.width*inputs, f.height*f.width*c.depth, whole{f}
		r.matrix = max(r.matrix, c.depth)
	case "patches":
		if *to, err = windowed(l, f); err != nil {
			return nil, err
		}
		inputs, channels, pitch, c.depth = patch, patch, patchPitch, patchPitch
		c.source = patches{to, f.width, l.Stride, l.Before}
		r.matrix = max(r.matrix, r.pixels(to)*patchPitch)
	case "separable":
		if *to, err = windowed(l, f); err != nil {
			return nil, err
		}
		if c.source, err = r.windows(to, l, f); err != nil {
			return nil, err
		}
	}
	to.channels = l.Channels
	if len(from) > 1 {
		if c.add = from[1]; c.add.height != to.height || c.add.width != to.width || c.add.channels > to.channels {
			return nil, errShape
		}
	}
	return c, r.panels(c, inputs, channels, pitch)
}

// panels reads the weights, biases and slopes of a convolution.
func (r *reader) panels(c *convolution, inputs, channels, pitch int) error {
	outputs := c.to.channels
	if outputs < 1 {
		return errShape
	}
	if outputs > len(r.halves) {
		return errIncomplete
	}
	numbers, err := r.take((inputs + 2) * outputs)
	if err != nil {
		return err
	}
	weights, numbers := numbers[:inputs*outputs], numbers[inputs*outputs:]
	c.weights, c.bias, c.slopes = panelsOf(c.depth, weights, numbers[:outputs], numbers[outputs:], func(input int) int { return input/channels*pitch + input%channels })
	r.rest = max(r.rest, Block*c.to.pitch())
	return nil
}

// panelsOf returns weights, which are by input and output, biases and slopes as a product of a depth takes them. row returns the row of an input.
func panelsOf(depth int, weights, biases, slopes []float32, row func(input int) int) (w, b, s []float32) {
	outputs := len(biases)
	pitch := roundUp(outputs, lanes)
	w, b, s = make([]float32, depth*pitch), make([]float32, pitch), make([]float32, pitch)
	for i, v := range weights {
		w[inPanels(depth, row(i/outputs), i%outputs)] = v
	}
	copy(b, biases)
	copy(s, slopes)
	return w, b, s
}

// inPanels returns the index of a weight of a matrix among its panels. depth is the number of inputs of a panel.
func inPanels(depth, input, output int) int { return (output/lanes*depth+input)*lanes + output%lanes }

// take reads the next weights of the file.
func (r *reader) take(n int) ([]float32, error) {
	if n > len(r.halves)/2 {
		return nil, errIncomplete
	}
	numbers := make([]float32, n)
	half.Decode(numbers, r.halves[:2*n])
	r.halves = r.halves[2*n:]
	return numbers, nil
}

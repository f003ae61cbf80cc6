package conv

import "slices"

// Matrix multiplies rows of numbers, and adds biases. Any number of goroutines can use it at once.
type Matrix struct{ product }

// NewMatrix returns the matrix of weights, by input and output. What is below 0 in a result is multiplied by slope.
func NewMatrix(weights, biases []float32, slope float32) *Matrix {
	depth, pitch := roundUp(len(weights)/len(biases), 4), roundUp(len(biases), lanes)
	m := &Matrix{product{depth: depth, panels: pitch / lanes, pixels: Block, inPitch: depth, outPitch: pitch}}
	m.weights, m.bias, m.slopes = panelsOf(depth, weights, biases, slices.Repeat([]float32{slope}, len(biases)), func(input int) int { return input })
	return m
}

// Pitches returns how many numbers a row of the input has, and one of the result: both are rounded up. The last ones of an input count as 0, but
// have to be finite, and those of a result are 0.
func (m *Matrix) Pitches() (in, out int) { return m.inPitch, m.outPitch }

// Multiply computes Block rows.
func (m *Matrix) Multiply(out, in []float32) {
	p := m.product
	p.in, p.out = in, out
	p.run()
}

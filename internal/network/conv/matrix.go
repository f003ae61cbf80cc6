package conv

// Block is the number of rows that a Matrix multiplies at once.
const Block = block

// Matrix multiplies rows of numbers, and adds biases. Any number of goroutines can use it at once.
type Matrix struct{ product }

// NewMatrix returns the matrix of weights, by input and output. What is below 0 in a result is multiplied by slope.
func NewMatrix(weights, biases []float32, slope float32) *Matrix {
	outputs := len(biases)
	depth, pitch := roundUp(len(weights)/outputs, 4), roundUp(outputs, lanes)
	m := &Matrix{product{depth: depth, panels: pitch / lanes, pixels: block, inPitch: depth, outPitch: pitch}}
	m.weights, m.bias, m.slopes = make([]float32, depth*pitch), make([]float32, pitch), make([]float32, pitch)
	for i, w := range weights {
		m.weights[inPanels(depth, i/outputs, i%outputs)] = w
	}
	copy(m.bias, biases)
	for i := range m.slopes {
		m.slopes[i] = slope
	}
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

package wav2lip

import (
	"context"
	"fmt"
	"slices"

	"lipsync/internal/network/batch"
	"lipsync/internal/network/onnx"
)

// model is a network as its inputs and outputs describe it.
type model struct {
	batch.Network
	faces, sound int // indices of the inputs
	size         int // width and height of a face, pixels
}

// The sizes of faces in models of the family, in pixels, are multiples of sizeStep: their layers halve a face five times.
const leastSize, mostSize, sizeStep = 96, 512, 32

// mostBatch is the largest size of batches that a model may fix. Larger ones are no faster, and the frames of all their faces
// wait in memory.
const mostBatch = 64

// newModel returns the model of a network by the shapes of its inputs and its output: faces n×6×N×N, sound n×1×80×16, and
// painted faces n×3×N×N. most is the largest number of faces in a run, unless the network fixes it.
func newModel(inputs, outputs []onnx.Info, most int) (model, error) {
	m := model{faces: -1, sound: -1, Network: batch.Network{Name: "wav2lip", Most: most, Runs: 1}}
	for i, in := range inputs {
		switch s := in.Shape; {
		case len(s) == 4 && s[1] == 6 && s[2] == s[3]:
			m.faces, m.size = i, s[2]
		case len(s) == 4 && slices.Equal(s[1:], []int{1, bands, columns}):
			m.sound = i
		}
	}
	if len(inputs) != 2 || m.faces < 0 || m.sound < 0 || len(outputs) != 1 {
		return m, misfit("its inputs are %v and its outputs %v", inputs, outputs)
	}
	if m.size < leastSize || m.size > mostSize || m.size%sizeStep != 0 {
		return m, misfit("its faces are of %d pixels; a size of 96, 128, 256, 288, 384 or the like must be fixed in the model", m.size)
	}
	if err := m.fix(inputs); err != nil {
		return m, err
	}
	if !outputs[0].Fits([]int{m.Most, 3, m.size, m.size}) {
		return m, misfit("its output is %s, not n×3×%d×%[2]d", outputs[0], m.size)
	}
	return m, nil
}

// fix sets the batch to the one in the shapes of the inputs, if they fix it.
func (m *model) fix(inputs []onnx.Info) error {
	faces, sound := inputs[m.faces].Shape[0], inputs[m.sound].Shape[0]
	if faces != sound {
		return misfit("its batch is of %d faces but of %d sounds", faces, sound)
	}
	if faces > mostBatch || faces == 0 {
		return misfit("its batch is of %d faces, not of 1 to %d", faces, mostBatch)
	}
	if faces > 0 {
		m.Most, m.Fixed = faces, true
	}
	return nil
}

// misfit returns the error of a model that is not of the Wav2Lip family.
func misfit(format string, args ...any) error {
	return fmt.Errorf("wav2lip: this is no model of the Wav2Lip family: "+format, args...)
}

// bind returns the memory of runs of n faces by a session.
func (m *model) bind(ctx context.Context, session *onnx.Session, n int) (batch.Binding, error) {
	inputs := make([][]int, 2)
	inputs[m.faces] = []int{n, 6, m.size, m.size}
	inputs[m.sound] = []int{n, 1, bands, columns}
	return session.Bind(ctx, inputs, [][]int{{n, 3, m.size, m.size}})
}

package wav2lip

import (
	"context"
	"fmt"
	"slices"

	"lipsync/internal/network/batch"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/neural"
)

// The sizes of faces in models of the family, in pixels, are multiples of sizeStep: their layers halve a face five times.
const leastSize, mostSize, sizeStep = 96, 512, 32

// mostBatch is the largest size of batches that a model may fix. Larger ones are no faster, and the frames of all their faces
// wait in memory.
const mostBatch = 64

// newModel returns the network of a session. most is the number of faces of its batches, unless the model fixes another. If batches
// are large, there are fewer runs at once, since otherwise batches would be nearly empty.
func newModel(session *onnx.Session, most int) (neural.Network, error) {
	m, err := describe(session.Inputs(), session.Outputs(), most)
	if err != nil {
		return m, err
	}
	m.Padded = session.Provider() != onnx.CPU
	m.Runs = min(batch.Runs(session), max(1, mostRuns*cpuBatch(m.View.Size)/m.Most))
	m.Bind = func(ctx context.Context, n int) (batch.Binding, error) { return bind(ctx, session, &m, n) }
	return m, nil
}

// describe returns the network that has inputs and outputs of these shapes: faces n×6×N×N, sound n×1×80×16, and painted faces
// n×3×N×N. most is the largest number of faces in a run, unless the network fixes it.
func describe(inputs, outputs []onnx.Info, most int) (neural.Network, error) {
	m := neural.Network{
		Network: batch.Network{Name: "wav2lip", Most: most, Runs: 1},
		View:    view, Pictures: -1, Sound: -1, BGR: true, Sounds: bands * columns, Hear: hear,
	}
	for i, in := range inputs {
		switch s := in.Shape; {
		case len(s) == 4 && s[1] == 6 && s[2] == s[3]:
			m.Pictures, m.View.Size = i, s[2]
		case len(s) == 4 && slices.Equal(s[1:], []int{1, bands, columns}):
			m.Sound = i
		}
	}
	if len(inputs) != 2 || m.Pictures < 0 || m.Sound < 0 || len(outputs) != 1 {
		return m, misfit("its inputs are %v and its outputs %v", inputs, outputs)
	}
	size := m.View.Size
	if size < leastSize || size > mostSize || size%sizeStep != 0 {
		return m, misfit("its faces are of %d pixels; a size of 96, 128, 256, 288, 384 or the like must be fixed in the model", size)
	}
	if err := fix(&m, inputs); err != nil {
		return m, err
	}
	if !outputs[0].Fits([]int{m.Most, 3, size, size}) {
		return m, misfit("its output is %s, not n×3×%d×%[2]d", outputs[0], size)
	}
	return m, nil
}

// fix sets the batch to the one in the shapes of the inputs, if they fix it.
func fix(m *neural.Network, inputs []onnx.Info) error {
	faces, sound := inputs[m.Pictures].Shape[0], inputs[m.Sound].Shape[0]
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
func bind(ctx context.Context, session *onnx.Session, m *neural.Network, n int) (batch.Binding, error) {
	size, inputs := m.View.Size, make([][]int, 2)
	inputs[m.Pictures] = []int{n, 6, size, size}
	inputs[m.Sound] = []int{n, 1, bands, columns}
	return session.Bind(ctx, inputs, [][]int{{n, 3, size, size}})
}

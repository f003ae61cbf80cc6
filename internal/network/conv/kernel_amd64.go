package conv

import "golang.org/x/sys/cpu"

// vectors tells whether the processor has the instructions of the kernels in assembly.
var vectors = cpu.X86.HasAVX2 && cpu.X86.HasFMA

func (p *product) run() {
	if !vectors {
		p.plain()
		return
	}
	// The kernel checks no bounds.
	_ = p.in[(block-1)*p.inPitch+p.depth-1]
	_ = p.out[(block-1)*p.outPitch+p.panels*lanes-1]
	_, _, _ = p.weights[p.panels*lanes*p.depth-1], p.bias[p.panels*lanes-1], p.slopes[p.panels*lanes-1]
	if p.addPanels > 0 {
		_ = p.add[(block-1)*p.addPitch+p.addPanels*lanes-1]
	}
	multiplyAVX2(p)
}

func (w *window) run() {
	if !vectors {
		w.plain()
		return
	}
	last := (w.pixels-1)*w.step + 2*w.pitch + w.panels*lanes - 1
	_, _, _ = w.above[last], w.centre[last], w.below[last]
	_, _ = w.weights[w.panels*lanes*taps-1], w.out[(w.pixels-1)*w.pitch+w.panels*lanes-1]
	slideAVX2(w)
}

// multiplyAVX2 is product.plain for all pixels of the block.
//
//go:noescape
func multiplyAVX2(p *product)

// slideAVX2 is window.plain.
//
//go:noescape
func slideAVX2(w *window)

//go:build amd64 || arm64

package conv

func (p *product) run() {
	if !vectors {
		p.plain()
		return
	}
	// The kernel checks no bounds.
	_ = p.in[(Block-1)*p.inPitch+p.depth-1]
	_ = p.out[(Block-1)*p.outPitch+p.panels*lanes-1]
	_, _, _ = p.weights[p.panels*lanes*p.depth-1], p.bias[p.panels*lanes-1], p.slopes[p.panels*lanes-1]
	if p.addPanels > 0 {
		_ = p.add[(Block-1)*p.addPitch+p.addPanels*lanes-1]
	}
	multiplyVectors(p)
}

func (w *window) run() {
	if !vectors {
		w.plain()
		return
	}
	last := (w.pixels-1)*w.step + 2*w.pitch + w.panels*lanes - 1
	_, _, _ = w.above[last], w.centre[last], w.below[last]
	_, _ = w.weights[w.panels*lanes*taps-1], w.out[(w.pixels-1)*w.pitch+w.panels*lanes-1]
	slideVectors(w)
}

// multiplyVectors is product.plain, in assembly, for all pixels of the block.
//
//go:noescape
func multiplyVectors(p *product)

// slideVectors is window.plain, in assembly.
//
//go:noescape
func slideVectors(w *window)

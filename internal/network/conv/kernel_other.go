//go:build !amd64 && !arm64

package conv

func (p *product) run() { p.plain() }

func (w *window) run() { w.plain() }

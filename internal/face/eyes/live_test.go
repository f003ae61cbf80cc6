//go:build cgo

package eyes_test

import (
	"path/filepath"
	"testing"

	"lipsync/internal/face/eyes"
	"lipsync/internal/network/conv"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/onnxtest"
	"lipsync/internal/test/sharedtest"
)

// TestClip compares both networks on a frame of a clip with what ONNX Runtime makes of the published ones.
func TestClip(t *testing.T) {
	const side = 720
	models, clip := onnxtest.Models(t), sharedtest.Path(t, "media", "talking_man.mp4")
	frame := sharedtest.Frames(t, side, side, "-i", clip, "-frames:v", "1", "-vf", "scale=720:720")[0]
	s := pixels.NewSampler(frame, side/eyes.Side)
	const plane = eyes.Side * eyes.Side
	mesh, search := make([]float32, 3*plane), make([]float32, 3*plane)
	for i := range plane {
		x, y := float32(i%eyes.Side)+.5, float32(i/eyes.Side)+.5
		r, g, b := s.RGB(geom.Point{X: x * side / eyes.Side, Y: y * side / eyes.Side})
		for c, v := range []float32{r, g, b} {
			mesh[c*plane+i], search[c*plane+i] = v, 2*v-1
		}
	}
	for _, c := range []struct {
		file   string
		n      *conv.Network
		input  []float32
		bounds map[string]float32
	}{
		{"face_mesh_lips.onnx", eyes.Mesh(), mesh, map[string]float32{"landmarks": mostShare, "flag": mostShare, "lips": mostShare}},
		{"face_detection_full_range_sparse.onnx", eyes.Search(), search, map[string]float32{"boxes": mostPixels, "scores": mostScore}},
	} {
		session := onnxtest.Load(t, filepath.Join(models, c.file))
		binding, err := session.Bind(t.Context(), [][]int{{1, 3, eyes.Side, eyes.Side}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer binding.Close()
		copy(binding.Input(0), c.input)
		if err := binding.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := run(t, c.n, c.input)
		for i, info := range session.Outputs() {
			compare(t, info.Name, got[i], binding.Output(i), c.bounds[info.Name])
		}
	}
}

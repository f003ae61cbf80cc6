package onnx

import "testing"

func TestRoleCheck(t *testing.T) {
	infos := func(shapes ...[]int) (list []Info) {
		for _, shape := range shapes {
			list = append(list, Info{Type: Float32, Shape: shape})
		}
		return list
	}
	mel := []int{-1, 1, 80, 16}
	for _, c := range []struct {
		name            string
		role            Role
		inputs, outputs []Info
		size            int
		fails           bool
	}{
		{name: "wav2lip", role: Wav2Lip, inputs: infos(mel, []int{-1, 6, 96, 96}), outputs: infos([]int{-1, 3, 96, 96}), size: 96},
		{name: "other order, fixed batch", role: Wav2Lip, inputs: infos([]int{8, 6, 384, 384}, []int{8, 1, 80, 16}), outputs: infos([]int{8, 3, 384, 384}), size: 384},
		{name: "output of free size", role: Wav2Lip, inputs: infos(mel, []int{-1, 6, 96, 96}), outputs: infos([]int{-1, 3, -1, -1}), size: 96},
		{name: "input of free size", role: Wav2Lip, inputs: infos(mel, []int{-1, 6, -1, -1}), outputs: infos([]int{-1, 3, 96, 96}), fails: true},
		{name: "not square", role: Wav2Lip, inputs: infos(mel, []int{-1, 6, 96, 128}), outputs: infos([]int{-1, 3, 96, 96}), fails: true},
		{name: "output of another size", role: Wav2Lip, inputs: infos(mel, []int{-1, 6, 96, 96}), outputs: infos([]int{-1, 3, 48, 48}), fails: true},
		{name: "an input more", role: Wav2Lip, inputs: infos(mel, mel, []int{-1, 6, 96, 96}), outputs: infos([]int{-1, 3, 96, 96}), fails: true},
		{name: "the same input twice", role: Wav2Lip, inputs: infos(mel, mel), outputs: infos([]int{-1, 3, 96, 96}), fails: true},
		{name: "no shape", role: Wav2Lip, inputs: infos(mel, nil), outputs: infos([]int{-1, 3, 96, 96}), fails: true},
		{name: "detector", role: FaceDetector, inputs: infos([]int{1, 3, 240, 320}), outputs: infos([]int{1, 4420, 2}, []int{1, 4420, 4})},
		{name: "landmarks", role: FaceLandmarks, inputs: infos([]int{-1, 3, 192, 192}), outputs: infos([]int{-1}, []int{-1, -1, -1}), size: 192},
		{name: "speaker", role: ActiveSpeaker, inputs: infos([]int{1, -1, 13}, []int{1, -1, 112, 112}), outputs: infos([]int{1, -1})},
		{name: "landmarks as speaker", role: ActiveSpeaker, inputs: infos([]int{-1, 3, 192, 192}), outputs: infos([]int{-1}), fails: true},
	} {
		size, err := c.role.Check(c.inputs, c.outputs)
		if size != c.size || (err != nil) != c.fails {
			t.Errorf("%s: got %d and %v, want %d", c.name, size, err, c.size)
		}
	}
}

func TestRoleCheckSays(t *testing.T) {
	_, err := Wav2Lip.Check([]Info{{Shape: []int{1, 2}}}, []Info{{Shape: []int{-1}}})
	want := "a model of the role wav2lip takes n×1×80×16 and n×6×N×N and gives n×3×N×N, and this one takes 1×2 and gives n"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

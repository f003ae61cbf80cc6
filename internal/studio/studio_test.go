package studio_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/ffmpeg/ffmpegtest"
	"lipsync/internal/onnx"
	"lipsync/internal/onnx/onnxtest"
	"lipsync/internal/render"
	"lipsync/internal/studio"
)

// shown is a network of the Wav2Lip kind that paints the face as it is.
func shown(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "wav2lip.onnx")
	onnxtest.Graph{
		Inputs: []onnx.Info{
			{Name: "mel", Type: onnx.Float32, Shape: []int{-1, 1, 80, 16}},
			{Name: "faces", Type: onnx.Float32, Shape: []int{-1, 6, 96, 96}},
		},
		Outputs: []onnx.Info{{Name: "face", Type: onnx.Float32, Shape: []int{-1, 3, 96, 96}}},
		Initializers: []onnxtest.Tensor{
			{Name: "from", Shape: []int{1}, Ints: []int64{3}}, {Name: "to", Shape: []int{1}, Ints: []int64{6}},
			{Name: "axis", Shape: []int{1}, Ints: []int64{1}},
		},
		Nodes: []onnxtest.Node{{Op: "Slice", Inputs: []string{"faces", "from", "to", "axis"}, Outputs: []string{"face"}}},
	}.Write(t, path)
	return path
}

func open(t testing.TB, models string) (*studio.Studio, error) {
	t.Helper()
	limits := render.DefaultLimits()
	s, err := studio.Open(studio.Options{
		Tools: ffmpegtest.Tools(t), Limits: limits, Cores: 2, Models: models, Library: onnxtest.Library(t),
	})
	if err == nil {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return s, err
}

func add(t testing.TB, folder string, role onnx.Role, file string) {
	t.Helper()
	if _, err := onnx.Add(folder, onnx.Model{Role: role}, file); err != nil {
		t.Fatal(err)
	}
}

func TestNames(t *testing.T) {
	s, err := open(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Names("warp"); !slices.Equal(got, []string{"warp"}) || err != nil {
		t.Errorf("without models: got %v, %v", got, err)
	}
	if got, err := s.Names("wav2lip"); err == nil || !strings.HasPrefix(err.Error(), "there is no engine wav2lip: ") {
		t.Errorf("an engine without its model: got %v, %v", got, err)
	}
	folder := t.TempDir()
	add(t, folder, onnx.Wav2Lip, shown(t))
	if s, err = open(t, folder); err != nil {
		t.Fatal(err)
	}
	for first, want := range map[string][]string{"warp": {"warp", "wav2lip"}, "wav2lip": {"wav2lip", "warp"}} {
		if got, err := s.Names(first); !slices.Equal(got, want) || err != nil {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
}

// TestRender renders two people by networks alone.
func TestRender(t *testing.T) {
	models, folder := onnxtest.Models(t), t.TempDir()
	for role, name := range map[onnx.Role]string{
		onnx.FaceDetector: "ultraface_rfb_320.onnx", onnx.FaceLandmarks: "facemesh_192.onnx", onnx.ActiveSpeaker: "light_asd.onnx",
	} {
		add(t, folder, role, filepath.Join(models, name))
	}
	add(t, folder, onnx.Wav2Lip, shown(t))
	s, err := open(t, folder)
	if err != nil {
		t.Fatal(err)
	}
	media, scratch := filepath.Join(models, "..", "media"), t.TempDir()
	job := render.Job{
		Video: filepath.Join(media, "two_people.mp4"),
		Audio: ffmpegtest.Make(t, "speech.wav", "-t", "1.5", "-i", filepath.Join(media, "speech.wav")),
		Output: filepath.Join(scratch, "out.mp4"), Scratch: scratch, Engine: "wav2lip",
	}
	for range 2 { // the networks serve more than one job
		if err := s.Render(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := s.Tools.Probe(t.Context(), job.Output); err != nil || info.Video.Width != 704 {
		t.Errorf("got %+v, %v", info, err)
	}
}

// TestBadModels: a model that can't be used is refused in a sentence.
func TestBadModels(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.onnx")
	if err := os.WriteFile(bad, []byte("no model"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong := shown(t)
	for _, c := range []struct {
		name, file, want string
		role             onnx.Role
	}{
		{"not a model", bad, "the model bad.onnx cannot be used: ", onnx.FaceDetector},
		{"of another role", wrong, "a model of the role active-speaker takes ", onnx.ActiveSpeaker},
	} {
		folder := t.TempDir()
		add(t, folder, c.role, c.file)
		if _, err := open(t, folder); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	if _, err := open(t, filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that isn't there was taken")
	}
}

package engines_test

import (
	"bytes"
	"cmp"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/version"
	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render"
	"lipsync/internal/render/engines"
	"lipsync/internal/render/intake"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/onnxtest"
	"lipsync/internal/test/tracktest"
)

// open opens a set on a folder of models, and returns what it logs too.
func open(t testing.TB, models string, providers ...onnx.Provider) (*engines.Set, *bytes.Buffer) {
	t.Helper()
	return openWith(t, engines.Options{Models: models, Library: onnxtest.Library(t), Providers: providers})
}

func openWith(t testing.TB, o engines.Options) (*engines.Set, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	o.Limits, o.Cores, o.Log = intake.DefaultLimits(), 2, slog.New(slog.NewTextHandler(&log, nil))
	s, err := engines.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, &log
}

func add(t testing.TB, folder string, role catalog.Role, file string) {
	t.Helper()
	onnxtest.Runtime(t)
	if _, err := catalog.Add(folder, catalog.Model{Role: role}, file); err != nil {
		t.Fatal(err)
	}
}

// addAll adds the shared networks, which find faces and the speaker, to a folder of models.
func addAll(t testing.TB, folder string) {
	t.Helper()
	for role, name := range map[catalog.Role]string{
		catalog.FaceDetector: "ultraface_rfb_320.onnx", catalog.FaceLandmarks: "facemesh_192.onnx", catalog.ActiveSpeaker: "light_asd.onnx",
	} {
		add(t, folder, role, filepath.Join(onnxtest.Models(t), name))
	}
}

// networked returns the names of the engines with networks that can be used beside warp.
func networked(t *testing.T, s *engines.Set) []string {
	t.Helper()
	names, err := s.Names(order.Warp)
	if err != nil {
		t.Error(err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !order.NeedsNetwork(name) })
}

func TestNames(t *testing.T) {
	s, log := open(t, "")
	if got, err := s.Names("warp"); !slices.Equal(got, []string{"warp"}) || err != nil || log.Len() > 0 {
		t.Errorf("without models: got %v, %v, log %s", got, err, log)
	}
	if got, err := s.Names("wav2lip"); err == nil || !strings.HasPrefix(err.Error(), "there is no engine wav2lip: ") {
		t.Errorf("an engine without its model: got %v, %v", got, err)
	}
	folder := t.TempDir()
	add(t, folder, catalog.Wav2Lip, onnxtest.AsItIs().File(t))
	s, _ = open(t, folder)
	for first, want := range map[string][]string{"warp": {"warp", "wav2lip"}, "wav2lip": {"wav2lip", "warp"}} {
		if got, err := s.Names(first); !slices.Equal(got, want) || err != nil {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
}

// TestModelsAreUsed checks that networks find the faces, here one on an empty wall, and that
// there is a network that finds the speaker.
func TestModelsAreUsed(t *testing.T) {
	mesh := onnxtest.Full(0, 1, 468, 3)
	for i := range mesh.Floats {
		mesh.Floats[i] = []float32{1. / 6, 5. / 6}[i/3%2] // as large as the box is in the network's picture
	}
	folder := t.TempDir()
	add(t, folder, catalog.ActiveSpeaker, filepath.Join(onnxtest.Models(t), "light_asd.onnx"))
	for role, graph := range map[catalog.Role]onnxtest.Graph{
		catalog.FaceDetector:  onnxtest.Saying(onnxtest.Full(1, 1, 1, 2), onnxtest.Tensor{Shape: []int{1, 1, 4}, Floats: []float32{.3, .3, .7, .7}}),
		catalog.FaceLandmarks: onnxtest.Saying(onnxtest.Full(1, 1), mesh),
	} {
		file := filepath.Join(t.TempDir(), string(role)+".onnx")
		graph.Write(t, file)
		add(t, folder, role, file)
	}
	s, log := open(t, folder)
	if s.Speaker == nil {
		t.Errorf("no network tells who speaks: %s", log)
	}
	without, _ := open(t, "")
	for s, want := range map[*engines.Set]int{s: 1, without: 0} {
		if faces, _, err := tracktest.Add(t.Context(), s.NewTracker(25), facetest.Wall(320, 320)); len(faces) != want || err != nil {
			t.Errorf("got faces %v, %v, want %d", faces, err, want)
		}
	}
	if program, err := version.Program(); err != nil || without.Basis() != program || !strings.HasPrefix(s.Basis(), program) || strings.Count(s.Basis(), "on CPU") != 3 {
		t.Errorf("findings are based on %q, and without models on %q (%v)", s.Basis(), without.Basis(), err)
	}
}

// TestProviders checks that the provider of a model is logged, with a warning if it is not
// the first that was asked for.
func TestProviders(t *testing.T) {
	folder := t.TempDir()
	add(t, folder, catalog.Wav2Lip, onnxtest.AsItIs().File(t))
	for _, c := range []struct {
		asked []onnx.Provider
		want  string
	}{
		{[]onnx.Provider{onnx.CPU}, `level=INFO msg="a model is ready" role=wav2lip file=test.onnx provider=CPU`},
		{[]onnx.Provider{"abacus", onnx.CPU}, `level=WARN msg="a model runs on another provider than was asked for" role=wav2lip file=test.onnx provider=CPU asked=abacus`},
		{[]onnx.Provider{"abacus"}, `level=ERROR msg="a model cannot be used" role=wav2lip file=test.onnx error="abacus is not available`},
	} {
		if _, log := open(t, folder, c.asked...); strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), c.want) {
			t.Errorf("%v: got %s, want %s", c.asked, log, c.want)
		}
	}
}

// TestRender renders two people by networks only, in two jobs at once.
func TestRender(t *testing.T) {
	folder := t.TempDir()
	addAll(t, folder)
	add(t, folder, catalog.Wav2Lip, onnxtest.AsItIs().File(t))
	s, _ := open(t, folder)
	media := filepath.Join(onnxtest.Models(t), "..", "media")
	speech := ffmpegtest.Make(t, "speech.wav", "-t", "0.6", "-i", filepath.Join(media, "speech.wav"))
	var jobs sync.WaitGroup
	defer jobs.Wait()
	for range 2 {
		scratch := t.TempDir()
		job := render.Job{
			Video: filepath.Join(media, "two_people.mp4"), Audio: speech,
			Output: filepath.Join(scratch, "out.mp4"), Scratch: scratch, Engine: "wav2lip",
		}
		jobs.Go(func() {
			if _, err := s.Render(t.Context(), job, nil); err != nil {
				t.Error(err)
			}
			if info, err := s.Tools.Probe(t.Context(), job.Output); err != nil || info.Video.Width != 704 {
				t.Errorf("got %+v, %v", info, err)
			}
		})
	}
}

// TestBadModels checks that a model that can't be used is logged once, in a sentence, and that
// the others are used.
func TestBadModels(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.onnx")
	if err := os.WriteFile(bad, []byte("no model"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file, want string
		role             catalog.Role
	}{
		{"not a model", bad, "the model bad.onnx cannot be used: ", catalog.FaceDetector},
		{"of another role", onnxtest.AsItIs().File(t), "a network that tells who speaks makes ", catalog.ActiveSpeaker},
		{"of another role", onnxtest.AsItIs().File(t), "the model's input is not one square picture", catalog.FaceLandmarks},
	} {
		folder := t.TempDir()
		add(t, folder, c.role, c.file)
		add(t, folder, catalog.Wav2Lip, named(t, "good.onnx"))
		s, log := open(t, folder)
		if got := log.String(); strings.Count(got, "level=ERROR") != 1 || !strings.Contains(got, "role="+string(c.role)) || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if got := networked(t, s); !slices.Equal(got, []string{"wav2lip"}) {
			t.Errorf("%s: got the engines %q, want wav2lip", c.name, got)
		}
	}
	if _, log := open(t, filepath.Join(t.TempDir(), "none")); !strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("of a folder that isn't there: got %q", log)
	}
}

// TestTryEnds checks that a network that computes for ever is refused, in a sentence.
func TestTryEnds(t *testing.T) {
	before := engines.SetTryCPU(time.Second / 4)
	defer engines.SetTryCPU(before)
	for role, c := range map[catalog.Role]struct {
		network onnxtest.Graph
		longest string
	}{
		catalog.Wav2Lip:         {onnxtest.AsItIs(), "250ms"},
		catalog.MuseTalkDecoder: {onnxtest.MuseTalkGrey("musetalk-decoder"), "1s"},
	} {
		g := c.network
		g.Initializers = append(g.Initializers, onnxtest.Tensor{Name: "always", Shape: []int{1}, Floats: []float32{1}})
		session := onnxtest.LoadWith(t, g.Endless("always").File(t), onnx.Options{Providers: []onnx.Provider{onnx.CPU}, Threads: 1})
		err := engines.Try(t.Context(), role, session)
		if want := "the network did not end within " + c.longest; err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", role, err, want)
		}
	}
}

// TestUnusable checks jobs for an engine whose model can't be used: the job is not at fault,
// and may be tried again. If there is no such model, the job is at fault.
func TestUnusable(t *testing.T) {
	bad, empty, spoiled := t.TempDir(), t.TempDir(), t.TempDir()
	add(t, bad, catalog.Wav2Lip, onnxtest.Graph{}.File(t))
	for dir, content := range map[string]string{empty: "{}", spoiled: "{"} {
		if err := os.WriteFile(filepath.Join(dir, catalog.FileName), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	video := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", "color=gray:s=64x64:d=0.2")
	audio := ffmpegtest.Make(t, "in.wav", "-f", "lavfi", "-i", "sine=d=0.2")
	for _, c := range []struct {
		name, models, library, want string
		code                        failure.Code
	}{
		{"no models", "", "", `model "wav2lip" is not installed`, failure.Invalid},
		{"none of the role", empty, "", `model "wav2lip" is not installed`, failure.Invalid},
		{"a bad one", bad, "", "start the engine: the model test.onnx cannot be used: it has no inputs or no outputs", failure.Internal},
		{"no list of them", spoiled, "", "start the engine: models.json: unexpected EOF", failure.Internal},
		{"no library", bad, "none.so", "start the engine: another ONNX Runtime is already loaded", failure.Internal},
	} {
		s, _ := openWith(t, engines.Options{Models: c.models, Library: cmp.Or(c.library, onnxtest.Library(t))})
		_, err := s.Render(t.Context(), render.Job{
			Video: video, Audio: audio, Output: filepath.Join(t.TempDir(), "out.mp4"), Scratch: t.TempDir(), Engine: "wav2lip",
		}, nil)
		if err == nil || err.Error() != c.want || failure.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, %s, want %s, %s", c.name, err, failure.CodeOf(err), c.want, c.code)
		}
		if got := networked(t, s); len(got) > 0 {
			t.Errorf("%s: got the engines %q, want none with a network", c.name, got)
		}
		if got, err := s.Names("wav2lip"); err == nil {
			t.Errorf("%s: got engines %v", c.name, got)
		}
	}
}

// named writes a good network to a file of that name, and returns its path.
func named(t *testing.T, name string) string {
	path := filepath.Join(t.TempDir(), name)
	onnxtest.AsItIs().Write(t, path)
	return path
}

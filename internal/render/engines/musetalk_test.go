package engines_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render"
	"lipsync/internal/render/engines"
	"lipsync/internal/render/musetalk"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/onnxtest"
)

// addMuseTalk adds small networks of musetalk to a folder, except for some roles.
func addMuseTalk(t testing.TB, folder string, except ...catalog.Role) {
	t.Helper()
	for _, role := range musetalk.Roles() {
		if !slices.Contains(except, role) {
			add(t, folder, role, onnxtest.MuseTalk(t, string(role)))
		}
	}
}

// addGrey adds networks of musetalk that paint grey.
func addGrey(t testing.TB, folder string) {
	t.Helper()
	for _, role := range musetalk.Roles() {
		file := filepath.Join(t.TempDir(), string(role)+".onnx")
		onnxtest.MuseTalkGrey(string(role)).Write(t, file)
		add(t, folder, role, file)
	}
}

// TestMuseTalk renders with small networks of musetalk. The mouth changes, and nothing above it.
func TestMuseTalk(t *testing.T) {
	folder := t.TempDir()
	addMuseTalk(t, folder)
	s, log := open(t, folder, onnx.CPU)
	if got := log.String(); strings.Count(got, `msg="a model is ready"`) != 4 || strings.Count(got, "level=WARN") != 1 || !strings.Contains(got, musetalk.Slow) {
		t.Errorf("got the log %s, want four models and a warning that there is no GPU", got)
	}
	if strings.Count(s.Basis(), ", musetalk") != 4 {
		t.Errorf("findings are based on %q", s.Basis())
	}
	if got := networked(t, s); !slices.Equal(got, []string{"musetalk"}) {
		t.Errorf("got the engines %q, want musetalk", got)
	}
	head, speech := ffmpegtest.Head(t, 6), ffmpegtest.Make(t, "in.wav", "-f", "lavfi", "-i", "sine=d=0.2")
	video := ffmpegtest.Make(t, "in.mp4", "-i", head, "-crf", "8")
	job := render.Job{Video: video, Audio: speech, Output: filepath.Join(t.TempDir(), "out.mp4"), Scratch: t.TempDir(), Engine: "musetalk", LargestFace: true}
	if _, err := s.Render(t.Context(), job, nil); err != nil {
		t.Fatal(err)
	}
	before, after := framesOf(t, video), framesOf(t, job.Output)
	for i, frame := range after {
		var upper, all float64
		for k, v := range frame.Y {
			d := max(float64(v)-float64(before[i].Y[k]), float64(before[i].Y[k])-float64(v))
			if all = max(all, d); k < len(frame.Y)/3 {
				upper = max(upper, d)
			}
		}
		if all < 40 || upper > 12 {
			t.Errorf("frame %d: luma changes by %g, and by %g in the upper third, want 40 or more, and at most 12", i, all, upper)
		}
	}
}

// TestMuseTalkWithoutModels opens sets that lack a model of musetalk, or in which one can't be used. The reason names the role or the
// file, and all other engines can be used.
func TestMuseTalkWithoutModels(t *testing.T) {
	type fault struct {
		name, want string
		models     func(t *testing.T, folder string)
		ready      int // models
	}
	var faults []fault
	for _, role := range musetalk.Roles() {
		faults = append(faults, fault{"without " + string(role), fmt.Sprintf("musetalk has no model of the role %s: add one with lipsync models add %[1]s FILE", role), func(t *testing.T, folder string) {
			addMuseTalk(t, folder, role)
		}, 1})
	}
	faults = append(faults, fault{"a bad one", "the model bad.onnx cannot be used: it has no inputs or no outputs", func(t *testing.T, folder string) {
		addMuseTalk(t, folder, catalog.MuseTalkEncoder)
		file := filepath.Join(t.TempDir(), "bad.onnx")
		onnxtest.Graph{}.Write(t, file)
		add(t, folder, catalog.MuseTalkEncoder, file)
	}, 4}, fault{"a bad one first", "the model bad.onnx cannot be used: it has no inputs or no outputs", func(t *testing.T, folder string) {
		file := filepath.Join(t.TempDir(), "bad.onnx")
		onnxtest.Graph{}.Write(t, file)
		add(t, folder, catalog.MuseTalkEncoder, file)
		addMuseTalk(t, folder, catalog.MuseTalkEncoder)
	}, 1}, fault{"without two", "musetalk has no models of the roles musetalk-encoder, musetalk: add each with lipsync models add ROLE FILE", func(t *testing.T, folder string) {
		addMuseTalk(t, folder, catalog.MuseTalkEncoder, catalog.MuseTalk)
	}, 1}, fault{"one of another role", "musetalk: this is no network of the role musetalk-encoder: its inputs are", func(t *testing.T, folder string) {
		addMuseTalk(t, folder, catalog.MuseTalkEncoder)
		file := filepath.Join(t.TempDir(), "other.onnx")
		onnxtest.MuseTalkGrey("musetalk-decoder").Write(t, file)
		add(t, folder, catalog.MuseTalkEncoder, file)
	}, 4}, fault{"states of another width", "takes states of 32 numbers, and that of the role musetalk-hearing makes states of 8", func(t *testing.T, folder string) {
		addMuseTalk(t, folder, catalog.MuseTalkHearing)
		file := filepath.Join(t.TempDir(), "wide.onnx")
		onnxtest.MuseTalkGrey("musetalk-hearing").Write(t, file)
		add(t, folder, catalog.MuseTalkHearing, file)
	}, 5})
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			add(t, folder, catalog.Wav2Lip, onnxtest.AsItIs().File(t))
			c.models(t, folder)
			s, log := open(t, folder)
			if got := log.String(); strings.Count(got, "level=ERROR") != 1 || strings.Count(got, `msg="a model is ready"`) != c.ready {
				t.Errorf("got the log %s, want one error and %d models", got, c.ready)
			}
			if got := networked(t, s); !slices.Equal(got, []string{"wav2lip"}) {
				t.Errorf("got the engines %q, want wav2lip", got)
			}
			if _, err := s.Names("musetalk"); err == nil || !strings.HasPrefix(err.Error(), "the engine musetalk cannot be used: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestNoMuseTalk checks what is said where no model of musetalk is: all its roles.
func TestNoMuseTalk(t *testing.T) {
	folder := t.TempDir()
	add(t, folder, catalog.Wav2Lip, onnxtest.AsItIs().File(t))
	s, _ := open(t, folder)
	want := "there is no engine musetalk: musetalk has no models of the roles musetalk-hearing, musetalk-encoder, musetalk, musetalk-decoder: add each with lipsync models add ROLE FILE"
	if _, err := s.Names("musetalk"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestTryMuseTalk tries each network of musetalk by itself, as lipsync models add does, and in the next role too.
func TestTryMuseTalk(t *testing.T) {
	roles := musetalk.Roles()
	for i, role := range roles {
		session := onnxtest.Load(t, onnxtest.MuseTalk(t, string(role)))
		err := engines.Try(t.Context(), role, session)
		if other := engines.Try(t.Context(), roles[(i+1)%4], session); err != nil || other == nil || !strings.Contains(other.Error(), "this is no network of the role") {
			t.Errorf("%s: got %v, and in another role %v", role, err, other)
		}
	}
	g := onnxtest.MuseTalkGrey("musetalk-encoder")
	g.Initializers[1].Ints[0] = 1 << 40
	if err := engines.Try(t.Context(), catalog.MuseTalkEncoder, onnxtest.Load(t, g.File(t))); err == nil {
		t.Errorf("a network that wants much memory: got %v", err)
	}
}

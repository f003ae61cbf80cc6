package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // of nothing

// entry is models.json of one model.
func entry(role, file, digest string) string {
	return `{"models": [{"role": "` + role + `", "file": "` + file + `", "sha256": "` + digest + `", "licence": "MIT"}]}`
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text, fails string // fails: part of the error
	}{
		{text: `{}`},
		{text: entry("wav2lip", "a.onnx", digest)},
		{text: strings.Replace(entry("wav2lip", "a.onnx", digest), `}]`, `, "input_size": 96}]`, 1)},
		{text: ``, fails: "EOF"},
		{text: `{"models": []} {}`, fails: "something follows"},
		{text: `{"modles": []}`, fails: "modles"},
		{text: entry("dancer", "a.onnx", digest), fails: `no role "dancer"`},
		{text: entry("wav2lip", "", digest), fails: "cannot be the name"},
		{text: entry("wav2lip", ".", digest), fails: "cannot be the name"},
		{text: entry("wav2lip", "..", digest), fails: "cannot be the name"},
		{text: entry("wav2lip", "../a.onnx", digest), fails: "cannot be the name"},
		{text: entry("wav2lip", "/etc/passwd", digest), fails: "cannot be the name"},
		{text: entry("wav2lip", "b/a.onnx", digest), fails: "cannot be the name"},
		{text: entry("wav2lip", "models.json", digest), fails: "cannot be the name"},
		{text: entry("wav2lip", "a\\u001b[2J.onnx", digest), fails: "characters that cannot be shown"},
		{text: strings.Replace(entry("wav2lip", "a.onnx", digest), "MIT", "M\\u001b]0;IT", 1), fails: "characters that cannot be shown"},
		{text: strings.Replace(entry("wav2lip", "a.onnx", digest), "MIT", "© été", 1)},
		{text: entry("wav2lip", "a.onnx", digest[2:]), fails: "64 hexadecimal digits"},
		{text: entry("wav2lip", "a.onnx", strings.Repeat("z", 64)), fails: "64 hexadecimal digits"},
		{text: strings.Replace(entry("wav2lip", "a.onnx", digest), `}]`, `, "input_size": -1}]`, 1), fails: "below 0"},
		{text: strings.Replace(entry("wav2lip", "a.onnx", digest), `]`, `,{"role": "wav2lip", "file": "b", "sha256": "`+digest+`"}]`, 1), fails: "two models"},
		{text: strings.Repeat(" ", MaxSize) + "{}", fails: "too large"},
	} {
		_, err := parse([]byte(c.text))
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%.200s: got %v, want %q", c.text, err, c.fails)
		}
	}
}

func FuzzCatalog(f *testing.F) {
	f.Add([]byte(entry("wav2lip", "a.onnx", digest)))
	f.Add([]byte(entry("face-detector", "../a.onnx", digest)))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parse(text)
		if err != nil {
			return
		}
		const dir = "/models"
		for _, m := range c.Models {
			m.dir = dir
			if filepath.Dir(m.Path()) != dir {
				t.Errorf("%q leads to %s, outside %s", m.File, m.Path(), dir)
			}
		}
	})
}

func TestAdd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "models")
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "lipsync models add") {
		t.Errorf("no folder: got %v", err)
	}
	file := filepath.Join(t.TempDir(), "a.onnx")
	for _, content := range []string{"first", "second"} { // the second takes the first one's place
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Add(dir, Model{Role: Wav2Lip, Licence: "mine & <yours>", InputSize: 96}, file); err != nil {
			t.Fatal(err)
		}
		c, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		m, found := c.Find(Wav2Lip)
		if !found || len(c.Models) != 1 || m.Licence != "mine & <yours>" || m.InputSize != 96 || m.File != "a.onnx" {
			t.Errorf("got %+v", c.Models)
		}
		if err := m.Verify(); err != nil {
			t.Error(err)
		}
		if got, err := os.ReadFile(m.Path()); err != nil || string(got) != content {
			t.Errorf("got %q (%v), want %q", got, err, content)
		}
		if _, found := c.Find(FaceDetector); found {
			t.Error("there is a face detector that nobody added")
		}
	}
	if _, err := Add(dir, Model{Role: FaceDetector}, file); err == nil || !strings.Contains(err.Error(), "give this file another") {
		t.Errorf("a name that is taken: got %v", err)
	}
	if _, err := Add(dir, Model{Role: Wav2Lip, Licence: "\x1b[2J"}, file); err == nil {
		t.Error("a licence that commands a terminal was added")
	}
	if _, err := Add(dir, Model{Role: "dancer"}, file); err == nil {
		t.Error("a role that does not exist was added")
	}
	if _, err := Add(dir, Model{Role: FaceDetector}, file+".gone"); err == nil {
		t.Error("a file that does not exist was added")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("got %v, want only a.onnx and models.json", entries)
	}
}

// TestAddRemovesTheFormer: the file of a role that has another one now, unless it
// is another role's too, as when models.json was written by hand.
func TestAddRemovesTheFormer(t *testing.T) {
	dir, from := t.TempDir(), t.TempDir()
	files := func() (names []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	add := func(role Role, name string) {
		file := filepath.Join(from, name)
		if err := os.WriteFile(file, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Add(dir, Model{Role: role}, file); err != nil {
			t.Fatal(err)
		}
	}
	add(Wav2Lip, "a.onnx")
	add(Wav2Lip, "b.onnx")
	if got, want := files(), []string{"b.onnx", "models.json"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	shared := Model{Role: Wav2Lip, File: "b.onnx", SHA256: digest}
	c := &Catalog{Models: []Model{shared, {Role: FaceDetector, File: "b.onnx", SHA256: digest}}}
	if err := c.write(dir); err != nil {
		t.Fatal(err)
	}
	add(Wav2Lip, "c.onnx")
	add(FaceDetector, "d.onnx")
	if got, want := files(), []string{"c.onnx", "d.onnx", "models.json"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWithoutEngines(t *testing.T) {
	const other = `{"role":"active-speaker","file":"s.onnx","sha256":"` + digest + `","licence":"MIT"}`
	text := `{"models":[{"role":"musetalk-decoder","file":"m.onnx","sha256":"` + digest + `","licence":""},` + other + `]}`
	for given, want := range map[string]string{text: `{"models":[` + other + `]}`, "{": "{", `{"models":[{"role":"x"}]}`: `{"models":[{"role":"x"}]}`} {
		if got := string(WithoutEngines([]byte(given))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestVerify(t *testing.T) {
	m := Model{Role: Wav2Lip, File: "a.onnx", SHA256: digest, dir: t.TempDir()}
	if err := m.Verify(); err == nil || err.Error() != "the model a.onnx cannot be used: there is no such file" {
		t.Errorf("no file: got %v", err)
	}
	if err := os.WriteFile(m.Path(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Error(err)
	}
	m.SHA256 = strings.ToUpper(digest)
	if err := m.Verify(); err != nil {
		t.Errorf("in capitals: %v", err)
	}
	if err := os.WriteFile(m.Path(), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err == nil || !strings.Contains(err.Error(), "SHA-256 differs") {
		t.Errorf("another content: got %v", err)
	}
}

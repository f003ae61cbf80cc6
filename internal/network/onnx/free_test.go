package onnx

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTooLittleMemory checks that memory counts which the system and a container leave, and what is said
// if it is too little.
func TestTooLittleMemory(t *testing.T) {
	const machine = "MemTotal: 9000000 kB\nMemFree: 1000 kB\nMemAvailable:    4000000 kB\n"
	for halves, want := range map[int64]int64{0: 4e9, 1e9: 5.5e9, 2e9: 7e9} {
		if got := loading(2e9, halves); got != want {
			t.Errorf("%d bytes of 16 bits: got %d, want %d", halves, got, want)
		}
	}
	for _, c := range []struct {
		name, machine, most, used, stat, want string
	}{
		{"machine", machine, "", "", "", "loading it takes 5.0 GB of memory, and 4.1 GB are free"},
		{"container without a limit", machine, "max\n", "100\n", "", "loading it takes 5.0 GB of memory, and 4.1 GB are free"},
		{"small container", machine, "3000000000\n", "2000000000\n", "anon 5\ninactive_file 300000000\nactive_file 200000000\n", "loading it takes 5.0 GB of memory, and 1.5 GB are free"},
		{"small machine in a large container", machine, "90000000000\n", "1\n", "", "loading it takes 5.0 GB of memory, and 4.1 GB are free"},
		{"enough", "MemAvailable: 5000000 kB", "", "", "", ""},
		{"another system", "", "", "", "", ""},
	} {
		root := t.TempDir()
		for file, text := range map[string]string{
			"proc/meminfo": c.machine, "sys/fs/cgroup/memory.max": c.most, "sys/fs/cgroup/memory.current": c.used, "sys/fs/cgroup/memory.stat": c.stat,
		} {
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if err := enough(loading(2.5e9, 0), root); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLacking checks that a lack of memory on the CPU doesn't hide why the GPU didn't take the model.
func TestLacking(t *testing.T) {
	short := errors.New("loading it takes much")
	if got := lacking(short, CPU, nil); got != short {
		t.Errorf("without a GPU: got %v", got)
	}
	got := lacking(short, CUDA, errors.New("CUDA failure 2: out of memory\nat a line"))
	if want := `loading it takes much; with cuda ONNX Runtime says "CUDA failure 2: out of memory"`; !errors.Is(got, short) || !strings.EqualFold(got.Error(), want) {
		t.Errorf("got %v, want %s", got, want)
	}
}

package onnx

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
)

// told returns a folder as the kernel's about the driver.
func told(t *testing.T, version string, gpus ...string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"version": version}
	for i, gpu := range gpus {
		files[filepath.Join("gpus", string(rune('0'+i)), "information")] = gpu
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCheckDriver(t *testing.T) {
	const gcc = "\nGCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)\n"
	for text, want := range map[string]string{
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 10:11:16 UTC 2025" + gcc:                                       "",
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.44.01  Release Build  (dvs-builder@U22-I3)  Mon Nov 24 2025" + gcc:      "",
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.172.08  Tue Jul  8 18:32:24 UTC 2025" + gcc:                                      "the driver of the NVIDIA GPU is of version 570.172.08, and CUDA 13 needs 580 or later",
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.54.03  Release Build  (dvs-builder@U16)  Tue Jun  6 22:30:00 UTC" + gcc: "the driver of the NVIDIA GPU is of version 535.54.03, and CUDA 13 needs 580 or later",
		"something else": "",
	} {
		got := ""
		if err := checkDriver(told(t, text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	if err := checkDriver(filepath.Join(t.TempDir(), "missing")); err != nil {
		t.Errorf("without a driver: got %v", err)
	}
}

// TestEngineFolder checks that engines are shared by equal GPUs only, for the same network and library.
func TestEngineFolder(t *testing.T) {
	const l4, l40s = "Model: \t\t NVIDIA L4\nIRQ:   \t\t 63\n", "Model: \t\t NVIDIA L40S\nIRQ:   \t\t 63\n"
	one := engineFolder("root", told(t, "", l4), "1.31.1", sha256.Sum256([]byte("network")))
	if filepath.Dir(one) != "root" {
		t.Errorf("got %s", one)
	}
	if again := engineFolder("root", told(t, "", "Model: \t\t NVIDIA L4\nIRQ:   \t\t 64\n"), "1.31.1", sha256.Sum256([]byte("network"))); again != one {
		t.Errorf("got %s of another GPU of the same kind, want %s", again, one)
	}
	for what, other := range map[string]string{
		"GPU":     engineFolder("root", told(t, "", l40s), "1.31.1", sha256.Sum256([]byte("network"))),
		"library": engineFolder("root", told(t, "", l4), "1.32.0", sha256.Sum256([]byte("network"))),
		"network": engineFolder("root", told(t, "", l4), "1.31.1", sha256.Sum256([]byte("weights"))),
	} {
		if other == one {
			t.Errorf("another %s has the same folder", what)
		}
	}
}

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// TestComponents lists what this command itself is made of, and a file beside it.
func TestComponents(t *testing.T) {
	dir := t.TempDir()
	program, library := filepath.Join(dir, "sbom"), filepath.Join(dir, "library.so")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	if err := os.WriteFile(library, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &flags{Program: program, Version: "0.1.0", Time: "2026-11-22T00:00:00Z", File: map[string]string{"library@1.2": library}}
	var first, second bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &second} {
		if err := f.write(w); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != second.String() {
		t.Error("two documents of one program differ")
	}
	var got cdx.BOM
	if err := cdx.NewBOMDecoder(&first, cdx.BOMFileFormatJSON).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if c := got.Metadata.Component; c.PackageURL != "pkg:generic/sbom@0.1.0" {
		t.Errorf("got program %s, want pkg:generic/sbom@0.1.0", c.PackageURL)
	}
	digests := map[string]string{}
	for _, c := range *got.Components {
		name, _, _ := strings.Cut(c.PackageURL, "@")
		digests[name] = ""
		if c.Hashes != nil {
			digests[name] = (*c.Hashes)[0].Value
		}
	}
	for _, name := range []string{"pkg:golang/github.com/CycloneDX/cyclonedx-go", "pkg:golang/github.com/google/uuid"} {
		if len(digests[name]) != 64 {
			t.Errorf("%s: got digest %q, want 64 digits", name, digests[name])
		}
	}
	if _, found := digests["pkg:golang/std"]; !found {
		t.Errorf("got no standard library of %s", runtime.Version())
	}
	// The example of FIPS 180-2.
	if got, want := digests["pkg:generic/library"], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; got != want {
		t.Errorf("library: got digest %s, want %s", got, want)
	}
	if parts := *(*got.Dependencies)[0].Dependencies; len(parts) != len(*got.Components) {
		t.Errorf("the program depends on %d components, want %d", len(parts), len(*got.Components))
	}
}

func TestBadFiles(t *testing.T) {
	for _, f := range []flags{
		{Program: "main.go"},
		{Program: "missing"},
	} {
		if err := f.write(new(bytes.Buffer)); err == nil {
			t.Errorf("%s: got no error", f.Program)
		}
	}
	for name, path := range map[string]string{"library": "main.go", "library@1": "missing"} {
		if _, err := file(name, path); err == nil {
			t.Errorf("%s=%s: got no error", name, path)
		}
	}
}

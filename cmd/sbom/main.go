// Command sbom writes to its standard output the components of a program of Go: its
// modules, Go's standard library, and the files that are shipped with it. The form is
// CycloneDX, in JSON. Nothing in it depends on the time or on the machine.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/alecthomas/kong"
)

// flags are the command line.
type flags struct {
	Program string            `arg:"" help:"The program."`
	Version string            `required:"" help:"The program's version."`
	Time    string            `required:"" help:"When it was released, in RFC 3339."`
	File    map[string]string `placeholder:"NAME@VERSION=FILE" help:"A file that is shipped with it."`
}

func main() {
	var f flags
	command := kong.Parse(&f, kong.Name("sbom"), kong.Description("Write the components of a program as CycloneDX."))
	command.FatalIfErrorf(f.write(os.Stdout))
}

func (f *flags) write(w io.Writer) error {
	program, err := buildinfo.ReadFile(f.Program)
	if err != nil {
		return err
	}
	digest, err := digestOf(f.Program)
	if err != nil {
		return err
	}
	root := component(cdx.ComponentTypeApplication, "pkg:generic", filepath.Base(f.Program), f.Version, digest)
	components := modules(program)
	for name, path := range f.File {
		c, err := file(name, path)
		if err != nil {
			return err
		}
		components = append(components, c)
	}
	encoder := cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true)
	return encoder.EncodeVersion(document(f.Time, root, components), cdx.SpecVersion1_6)
}

// digestOf returns the SHA-256 of a file, in hexadecimal digits.
func digestOf(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("take the digest: %w", err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}

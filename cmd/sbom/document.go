package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// document returns a program's list of components, in the order of their package URLs.
// The serial number follows from the program's digest.
func document(time string, program cdx.Component, components []cdx.Component) *cdx.BOM {
	slices.SortFunc(components, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	parts := []string{}
	for _, c := range components {
		parts = append(parts, c.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte((*program.Hashes)[0].Value)).URN()
	bom.Metadata = &cdx.Metadata{Timestamp: time, Component: &program}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &parts}}
	return bom
}

// modules returns the modules that are linked into a program, and Go's standard library.
func modules(program *debug.BuildInfo) []cdx.Component {
	found := []cdx.Component{component(cdx.ComponentTypeLibrary, "pkg:golang", "std", strings.TrimPrefix(program.GoVersion, "go"), "")}
	for _, m := range program.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		found = append(found, component(cdx.ComponentTypeLibrary, "pkg:golang", m.Path, m.Version, moduleDigest(m.Sum)))
	}
	return found
}

// moduleDigest returns a sum of go.sum, which is a SHA-256 of the digests of the module's
// files, in hexadecimal digits. It returns "" for any other kind of sum.
func moduleDigest(sum string) string {
	text, found := strings.CutPrefix(sum, "h1:")
	digest, err := base64.StdEncoding.DecodeString(text)
	if !found || err != nil {
		return ""
	}
	return hex.EncodeToString(digest)
}

// file returns a shipped file as a component. Its name is NAME@VERSION.
func file(nameAndVersion, path string) (cdx.Component, error) {
	name, version, found := strings.Cut(nameAndVersion, "@")
	if !found {
		return cdx.Component{}, fmt.Errorf("%s is not NAME@VERSION", nameAndVersion)
	}
	digest, err := digestOf(path)
	if err != nil {
		return cdx.Component{}, err
	}
	return component(cdx.ComponentTypeLibrary, "pkg:generic", name, version, digest), nil
}

// component returns a component whose package URL is kind/name@version. The digest is a
// SHA-256 in hexadecimal digits, or "" if there is none.
func component(kind cdx.ComponentType, scheme, name, version, digest string) cdx.Component {
	purl := scheme + "/" + name + "@" + url.QueryEscape(version)
	c := cdx.Component{BOMRef: purl, Type: kind, Name: name, Version: version, PackageURL: purl}
	if digest != "" {
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: digest}}
	}
	return c
}

// Package c2patest is for tests of signed outputs. Its signer and its reader of manifests are different programs.
package c2patest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/test/sharedtest"
)

//go:embed testdata/c2patool.py
var script []byte

//go:embed testdata/read.mjs
var reader []byte

// Install puts a program that signs as c2patool does at the beginning of PATH: the one that LIPSYNC_C2PATOOL names, or a script.
func Install(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	path, err := filepath.Join(dir, "c2patool"), error(nil)
	if real := os.Getenv("LIPSYNC_C2PATOOL"); real != "" {
		err = os.Symlink(real, path)
	} else {
		python := installed(t, ".cache/venv/bin/python")
		err = os.WriteFile(path, append([]byte("#!"+python+"\n"), script...), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

func installed(t *testing.T, path string) string {
	t.Helper()
	found := filepath.Join(sharedtest.Root(t), path)
	if _, err := os.Stat(found); err != nil {
		t.Skipf("%s is not installed: make test does that", path)
	}
	return found
}

// Certificate makes a key with a certificate that may sign manifests, and an authority above it. It returns the paths of both in PEM.
func Certificate(t *testing.T) (certificate, key string) {
	return CertificateFor(t, x509.ExtKeyUsageEmailProtection)
}

// Secret makes what Certificate makes, as one text in PEM.
func Secret(t *testing.T) string {
	t.Helper()
	certificate, key := Certificate(t)
	chain, err1 := os.ReadFile(certificate)
	private, err2 := os.ReadFile(key)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return string(chain) + string(private)
}

// CertificateFor makes a certificate for a use.
func CertificateFor(t *testing.T, use x509.ExtKeyUsage) (certificate, key string) {
	t.Helper()
	authority, own := newKey(t), newKey(t)
	top := template("Authority of tests")
	top.IsCA, top.BasicConstraintsValid, top.KeyUsage = true, true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
	leaf := template("Signer of tests")
	leaf.BasicConstraintsValid, leaf.KeyUsage, leaf.ExtKeyUsage = true, x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{use}
	above := sign(t, top, top, authority.Public(), authority)
	top, err := x509.ParseCertificate(above) // with the identifier of its key, which the other one names
	if err != nil {
		t.Fatal(err)
	}
	signed := sign(t, leaf, top, own.Public(), authority)
	private, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")
	chain := append(block("CERTIFICATE", signed), block("CERTIFICATE", above)...)
	if err := errors.Join(os.WriteFile(certificate, chain, 0o600), os.WriteFile(key, block("PRIVATE KEY", private), 0o600)); err != nil {
		t.Fatal(err)
	}
	return certificate, key
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name, Organization: []string{"Tests"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
}

func sign(t *testing.T, c, by *x509.Certificate, key crypto.PublicKey, authority *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, c, by, key, authority)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// Manifest is what the reader found in a file.
type Manifest struct {
	Signed     bool
	Valid      bool
	Statuses   []string // codes of C2PA of the checks
	Title      string
	Generator  string
	Assertions []string // their labels
	Actions    []map[string]any
}

// Read reads and checks the manifest of an MP4 or MOV.
func Read(t *testing.T, path string) (m Manifest) {
	t.Helper()
	modules := filepath.Dir(filepath.Dir(installed(t, ".cache/node/node_modules/@trustnxt/c2pa-ts")))
	dir := t.TempDir()
	if err := errors.Join(os.Symlink(modules, filepath.Join(dir, "node_modules")), os.WriteFile(filepath.Join(dir, "read.mjs"), reader, 0o600)); err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", "read.mjs", path)
	node.Dir, node.Stderr = dir, os.Stderr
	out, err := node.Output()
	if err == nil {
		err = json.Unmarshal(out, &m)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return m
}

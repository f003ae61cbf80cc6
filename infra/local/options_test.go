package main

import (
	"os"
	"path/filepath"
	"testing"

	"lipsync/internal/network/catalog"
	"lipsync/internal/store/s3"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/onnxtest"
	"lipsync/internal/test/resttest"
)

// TestOptionsByNetwork_long renders a few options by a network that the bucket has.
func TestOptionsByNetwork_long(t *testing.T) {
	onnxtest.Runtime(t)
	d := deployed(t, awstest.Enforcing(t))
	d.store(t, catalog.Wav2Lip, onnxtest.Grey())
	resttest.Looks(t, d.target(t), "wav2lip")
}

// store puts a network into the bucket, as operators do. Runners that have begun without it end.
func (d *testDeployment) store(t *testing.T, role catalog.Role, g onnxtest.Graph) {
	t.Helper()
	folder := t.TempDir()
	m, err := catalog.Add(folder, catalog.Model{Role: role}, g.File(t))
	if err != nil {
		t.Fatal(err)
	}
	bucket := s3.New(d.config, d.Outputs["BucketName"], s3.Signer{})
	for _, name := range []string{m.File, catalog.FileName} { // the list last, since it names the other
		file, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := bucket.Put(t.Context(), "models/"+name, file, -1); err != nil {
			t.Fatal(err)
		}
	}
	d.quiet(t)
}

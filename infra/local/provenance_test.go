package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"lipsync/internal/domain/settings"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/c2patest"
)

// signingSecret is the name of the secret that the stack's runners may read.
const signingSecret = "lipsync/signer"

// TestProvenance has runners that sign outputs, on an emulator that refuses what their role does not allow. Another program reads the manifest. The
// key must not be in their log.
func TestProvenance(t *testing.T) {
	c2patest.Install(t)
	d := deployed(t, awstest.Enforcing(t))
	text := c2patest.Secret(t)
	_, err := secretsmanager.NewFromConfig(d.config).CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{
		Name: aws.String(signingSecret), SecretString: &text,
	})
	if err != nil {
		t.Fatal(err)
	}
	d.quiet(t)
	remove := d.Batch.AddEnv("PATH="+os.Getenv("PATH"), settings.ProvenanceSecret.Env()+"="+signingSecret, settings.RequireProvenance.Env()+"=true")
	defer func() {
		d.quiet(t)
		remove()
	}()
	j := d.newJob(t)
	j.settle(t)
	j.want(t)
	var details struct{ Provenance string }
	j.call(t, http.MethodGet, "/v1/lipsync/requests/"+j.id+"/details", "", http.NoBody, &details)
	if details.Provenance != "c2pa" {
		t.Errorf("got the details %+v, want that the output is signed", details)
	}
	if m := c2patest.Read(t, j.download(t)); !m.Valid || len(m.Actions) != 1 {
		t.Errorf("got the manifest %+v", m)
	}
	log := string(read(t, d.log))
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) > 60 && strings.Contains(log, line) {
			t.Errorf("the log has %q", line)
		}
	}
}

// download gets the output of a completed request, and returns the path of its file.
func (j job) download(t *testing.T) string {
	t.Helper()
	var r struct {
		URL string `json:"output_url"`
	}
	j.call(t, http.MethodGet, "/v1/lipsync/requests/"+j.id, "", http.NoBody, &r)
	response, err := http.Get(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got %s (%v)", response.Status, err)
	}
	path := filepath.Join(t.TempDir(), "output.mp4")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

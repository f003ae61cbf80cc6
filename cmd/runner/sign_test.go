package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/google/uuid"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/c2patest"
)

// storeSecret makes a secret with the name.
func storeSecret(t *testing.T, name, text string) {
	t.Helper()
	client := secretsmanager.NewFromConfig(awstest.Shared(t).Config())
	if _, err := client.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &name, SecretString: &text}); err != nil {
		t.Fatal(err)
	}
}

// TestSign runs a job whose secret is made only after its first request. It must go on without it, say so in the details of that output, and sign
// that of the second request. No other user may be able to read the key, and it must not be in the log.
func TestSign(t *testing.T) {
	c2patest.Install(t)
	a, name := newAccount(t), "signer-"+uuid.NewString()
	a.environment["LIPSYNC_PROVENANCE_SECRET"] = name
	text := c2patest.Secret(t)
	video := face(t)
	first, second := a.request(t, video, sound(t)), a.request(t, video, sound(t))
	completed := 0
	log := a.run(t, t.Context(), 2, done, func(line []byte) {
		if !bytes.Contains(line, []byte(`"msg":"completed"`)) {
			return
		}
		if completed++; completed == 1 {
			storeSecret(t, name, text)
			return
		}
		keys, err := filepath.Glob(filepath.Join(a.environment["LIPSYNC_SCRATCH"], "runner-*", "provenance-*", "key.pem"))
		if err != nil || len(keys) != 1 {
			t.Fatalf("got the keys %q (%v), want one", keys, err)
		}
		for path, want := range map[string]os.FileMode{keys[0]: 0o600, filepath.Dir(keys[0]): 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: got mode %v (%v), want %v", path, info.Mode(), err, want)
			}
		}
	})
	for id, want := range map[string]order.Warnings{first: order.NotSigned, second: order.Signed} {
		a.want(t, id, lipsync.Completed, "", 1)
		if r, err := a.service.Store.Requests.ByID(t.Context(), id); err != nil || r.Warnings != want {
			t.Errorf("got the warnings %q (%v), want %q", r.Warnings, err, want)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if len(line) > 60 && strings.Contains(log, line) {
			t.Errorf("the log has %q", line)
		}
	}
	for _, want := range []string{`"outputs are not signed"`, `"outputs can't be signed: read the secret ` + name} {
		if !strings.Contains(log, want) {
			t.Errorf("log has no %s:\n%s", want, log)
		}
	}
}

// TestSignRequired runs jobs that can't sign, although all outputs must be signed. They must take no request.
func TestSignRequired(t *testing.T) {
	a := newAccount(t)
	a.environment["LIPSYNC_REQUIRE_PROVENANCE"] = "true"
	id := a.request(t, noFace(t), sound(t))
	certificate, _ := c2patest.Certificate(t)
	chain, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	known, half := "signer-"+uuid.NewString(), "signer-"+uuid.NewString()
	storeSecret(t, known, c2patest.Secret(t))
	storeSecret(t, half, string(chain))
	t.Setenv("PATH", t.TempDir())
	for _, c := range []struct{ secret, want string }{
		{"", "LIPSYNC_REQUIRE_PROVENANCE needs LIPSYNC_PROVENANCE_SECRET"},
		{"none", "outputs can't be signed: read the secret none: "},
		{half, "it must have the certificate, those above it, and the private key, as blocks of PEM"},
		{known, "outputs can't be signed: c2patool is not in PATH"},
	} {
		a.environment["LIPSYNC_PROVENANCE_SECRET"] = c.secret
		if log := a.run(t, t.Context(), 1, failed, nil); !strings.Contains(log, c.want) {
			t.Errorf("%s: log has no %s:\n%s", c.secret, c.want, log)
		}
		a.want(t, id, lipsync.Queued, "", 0)
	}
}

func TestSplitPEM(t *testing.T) {
	const (
		leaf  = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
		above = "-----BEGIN CERTIFICATE-----\nBBBB\n-----END CERTIFICATE-----\n"
		key   = "-----BEGIN PRIVATE KEY-----\nCCCC\n-----END PRIVATE KEY-----\n"
		other = "-----BEGIN EC PARAMETERS-----\nDDDD\n-----END EC PARAMETERS-----\n"
	)
	for _, text := range []string{leaf + above + key, key + leaf + "a comment\n" + above, strings.ReplaceAll(leaf+key+above, "\n", "\r\n")} {
		certificates, got, err := splitPEM(text)
		if err != nil || string(certificates) != leaf+above || string(got) != key {
			t.Errorf("%q: got %q, %q, %v", text, certificates, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "must have the certificate", leaf + above: "must have the certificate", key: "must have the certificate",
		`{"certificate":"-----BEGIN CERTIFICATE-----\nAAAA"}`: "must have the certificate",
		leaf + key + key: "a further block: PRIVATE KEY", leaf + other + key: "a further block: EC PARAMETERS",
	} {
		if _, _, err := splitPEM(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

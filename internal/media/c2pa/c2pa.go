// Package c2pa signs outputs with the program c2patool, by the C2PA specification: a manifest in the file says
// which program made it, how and when.
package c2pa

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/tls"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/version"
	"lipsync/internal/media/sandbox"
)

// tool is the name of the program that signs.
const tool = "c2patool"

// Signer signs outputs.
type Signer struct {
	program          string // path
	certificate, key string // paths of the files in PEM
	algorithm        string // C2PA's name of the key's algorithm
	scratch          string // folder for the sample of Check
}

// Find returns a signer that uses the program c2patool in PATH. certificate is a file in PEM with the signer's certificate and those
// above it, and key one with its private key, also in PEM. scratch is an existing folder for the files of trials. Find signs a small video. It
// returns an error that says what is wrong if it can't.
func Find(ctx context.Context, certificate, key, scratch string) (*Signer, error) {
	program, err := exec.LookPath(tool)
	if err != nil {
		return nil, fmt.Errorf("outputs can't be signed: %s is not in PATH", tool)
	}
	s := &Signer{program: program, scratch: scratch}
	for _, file := range []struct {
		path     string
		absolute *string
	}{{certificate, &s.certificate}, {key, &s.key}} {
		if *file.absolute, err = filepath.Abs(file.path); err != nil {
			return nil, err
		}
	}
	pair, err := tls.LoadX509KeyPair(s.certificate, s.key)
	if err != nil {
		return nil, fmt.Errorf("outputs can't be signed: certificate %s, key %s: %w", certificate, key, err)
	}
	if s.algorithm, err = algorithm(pair.PrivateKey); err != nil {
		return nil, fmt.Errorf("outputs can't be signed: key %s: %w", key, err)
	}
	if err := s.try(ctx); err != nil {
		return nil, fmt.Errorf("outputs can't be signed: %w", err)
	}
	return s, nil
}

// algorithm returns C2PA's name of the algorithm of a private key (C2PA 2.2, section 13.2).
func algorithm(key crypto.PrivateKey) (string, error) {
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		if name := map[elliptic.Curve]string{elliptic.P256(): "es256", elliptic.P384(): "es384", elliptic.P521(): "es512"}[k.Curve]; name != "" {
			return name, nil
		}
	case ed25519.PrivateKey:
		return "ed25519", nil
	case *rsa.PrivateKey:
		return "ps256", nil
	}
	return "", errors.New("C2PA knows no algorithm for it; use ECDSA with P-256, P-384 or P-521, Ed25519, or RSA")
}

//go:embed sample.mp4
var sample []byte // a black picture of 64 × 64 pixels

// try signs the sample.
func (s *Signer) try(ctx context.Context) (err error) {
	folder, err := os.MkdirTemp(s.scratch, "c2pa-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "sample.mp4")
	if err := os.WriteFile(path, sample, 0o600); err != nil {
		return err
	}
	return s.Sign(ctx, path, order.Origin{Engine: "warp", At: time.Now()})
}

// Check signs a small video.
func (s *Signer) Check(ctx context.Context) error {
	if err := s.try(ctx); err != nil {
		return &failure.Error{Code: failure.Unavailable, Message: "outputs can't be signed", Err: err}
	}
	return nil
}

func (s *Signer) Sign(ctx context.Context, path string, o order.Origin) (err error) {
	folder, err := os.MkdirTemp(filepath.Dir(path), "sign-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	text, err := json.Marshal(s.manifest(o))
	if err != nil {
		return err
	}
	definition, signed := filepath.Join(folder, "manifest.json"), filepath.Join(folder, "signed"+filepath.Ext(path))
	if err := os.WriteFile(definition, text, 0o600); err != nil {
		return err
	}
	if err := s.run(ctx, folder, path, "-m", definition, "-o", signed, "-f"); err != nil {
		return err
	}
	return os.Rename(signed, path)
}

// manifest returns the definition of a manifest, as c2patool reads it. It has nothing about the client or the people in the video.
func (s *Signer) manifest(o order.Origin) map[string]any {
	return map[string]any{
		"alg": s.algorithm, "sign_cert": s.certificate, "private_key": s.key,
		"claim_generator_info": []any{map[string]string{"name": "lipsync", "version": version.String()}},
		"title":                "output",
		"assertions": []any{map[string]any{
			"label": "c2pa.actions.v2",
			"data": map[string]any{"actions": []any{map[string]any{
				"action": "c2pa.created", "when": o.At.UTC().Format(time.RFC3339),
				"softwareAgent": map[string]string{"name": "lipsync, engine " + o.Engine, "version": version.String()},
				"description":   "The mouths of a video were changed so that they follow a speech track.",
				// Source types of IPTC: a composite with parts that a trained model made, or chose.
				"digitalSourceType": "http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia",
			}}},
		}},
	}
}

// run runs the program. It reads the output, which this service made, the key and the certificate. It gets an empty environment, and ends
// with this process. folder is for its temporary files, which are two copies of an output of more than 512 MiB. It is also its home: the program
// wants one, and the settings that a user has at home go before those of the manifest, even with another key.
func (s *Signer) run(ctx context.Context, folder string, args ...string) error {
	cmd := exec.CommandContext(ctx, s.program, args...)
	var said sandbox.Tail
	cmd.Env, cmd.Stderr, cmd.WaitDelay = []string{"LC_ALL=C", "HOME=" + folder, "TMPDIR=" + folder}, &said, time.Second
	wait, err := sandbox.Sandbox{}.Start(cmd, sandbox.Files{})
	if err == nil {
		err = wait()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		text := strings.TrimSpace(said.String())
		if number := systemError(text); number != 0 {
			err = fmt.Errorf("%w: %w", err, number)
		}
		return fmt.Errorf("%s: %w: %s", tool, err, text)
	}
	return nil
}

// systemError returns the last error of the system in what a program in Rust says, or 0 if there is none. Rust writes its number, such as that of a
// full disk.
func systemError(said string) (number syscall.Errno) {
	const mark = "(os error "
	_, _ = fmt.Sscanf(said[max(0, strings.LastIndex(said, mark)):], mark+"%d)", &number) // it stays 0 if there is no mark
	return number
}

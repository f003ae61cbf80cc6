package main

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/settings"
	"lipsync/internal/media/c2pa"
	"lipsync/internal/work/worker"
)

// signer returns a signer of outputs by the key of the secret, or nil if the settings name none. The files of the key and its certificate are in a
// new folder in folder. If it can't sign, signer returns an error if all outputs must be signed. Otherwise the signer tries again at each output.
func (j *job) signer(ctx context.Context, d *cloud.Deployment, folder string) (worker.Signer, error) {
	if j.secret == "" {
		if d.Service.RequireProvenance {
			return nil, fmt.Errorf("%s needs %s", settings.RequireProvenance.Env(), settings.ProvenanceSecret.Env())
		}
		return nil, nil
	}
	s := &lazySigner{newOnce(ctx, func(ctx context.Context) (*c2pa.Signer, error) { return openSigner(ctx, d.Config, j.secret, folder) })}
	_, err := s.get(ctx)
	switch {
	case err == nil:
		d.Log.Info("outputs are signed", "secret", j.secret)
	case ctx.Err() != nil || d.Service.RequireProvenance:
		return nil, err
	default:
		d.Log.Warn("outputs are not signed", "error", err)
	}
	return s, nil
}

// lazySigner is a signer that is opened as soon as that is possible.
type lazySigner struct{ *once[*c2pa.Signer] }

var _ worker.Signer = (*lazySigner)(nil)

func (l *lazySigner) Sign(ctx context.Context, path string, o order.Origin) error {
	signer, err := l.get(ctx)
	if err != nil {
		return err
	}
	return signer.Sign(ctx, path, o)
}

func (l *lazySigner) Check(ctx context.Context) error {
	signer, err := l.get(ctx)
	if err != nil {
		return err
	}
	return signer.Check(ctx)
}

// openSigner reads the secret with the name, writes its certificates and its key to files in a new folder in folder, and returns a signer that uses
// them. Only this process's user can read the files. On an error no file is left.
func openSigner(ctx context.Context, config aws.Config, name, folder string) (_ *c2pa.Signer, err error) {
	out, err := secretsmanager.NewFromConfig(config).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &name})
	if err != nil {
		return nil, fmt.Errorf("outputs can't be signed: read the secret %s: %w", name, err)
	}
	certificates, key, err := splitPEM(aws.ToString(out.SecretString))
	if err != nil {
		return nil, fmt.Errorf("outputs can't be signed: secret %s: %w", name, err)
	}
	dir, err := os.MkdirTemp(folder, "provenance-") // with mode 700
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	certificateFile, keyFile := filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")
	if err := errors.Join(os.WriteFile(certificateFile, certificates, 0o600), os.WriteFile(keyFile, key, 0o600)); err != nil {
		return nil, err
	}
	s, err := c2pa.Find(ctx, certificateFile, keyFile, folder)
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", name, err)
	}
	return s, nil
}

// splitPEM splits a text in PEM into its certificates, in their order, and its private key.
func splitPEM(text string) (certificates, key []byte, err error) {
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		switch {
		case block.Type == "CERTIFICATE":
			certificates = append(certificates, pem.EncodeToMemory(block)...)
		case strings.HasSuffix(block.Type, "PRIVATE KEY") && key == nil:
			key = pem.EncodeToMemory(block)
		default:
			return nil, nil, fmt.Errorf("it must have only certificates and one private key, but has a further block: %s", block.Type)
		}
	}
	if certificates == nil || key == nil {
		return nil, nil, errors.New("it must have the certificate, those above it, and the private key, as blocks of PEM")
	}
	return certificates, key, nil
}

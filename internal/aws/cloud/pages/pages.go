// Package pages wires the dashboard for its function on AWS. Package cloud wires the other
// functions, so they don't link what only the dashboard needs.
package pages

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/dashboard"
	"lipsync/internal/http/openid"
	"lipsync/internal/http/rest"
	"lipsync/internal/store/s3"
)

// Settings are the settings that only the dashboard has.
type Settings struct {
	public           *url.URL // scheme and host
	signOut, issuer  *url.URL
	client, secretID string
}

// Read reads the Settings.
func Read(v *settings.Values) Settings {
	return Settings{
		public: settings.PublicURL.In(v), signOut: settings.SignOutURL.In(v), issuer: settings.Issuer.In(v),
		client: settings.ClientID.In(v), secretID: settings.SecretARN.In(v),
	}
}

// New returns the pages, for use behind API Gateway. The deployment must have Records and signed
// media.
func New(ctx context.Context, d *cloud.Deployment) (http.Handler, error) {
	bucket, ok := d.Service.Objects.(*s3.Objects)
	if !ok {
		return nil, errors.New("the dashboard needs media in a bucket")
	}
	s := Read(d.Settings)
	if err := d.Settings.Err(); err != nil {
		return nil, err
	}
	secret, err := readSecret(ctx, d.Config, s.secretID)
	if err != nil {
		return nil, err
	}
	storage, err := bucket.Origin(ctx)
	if err != nil {
		return nil, err
	}
	root := s.public.ResolveReference(&url.URL{Path: rest.Base + dashboard.Root})
	s.signOut.RawQuery = url.Values{ // as Cognito reads it
		"client_id": {s.client}, "logout_uri": {root.JoinPath("signed-out").String()},
	}.Encode()
	signIn, err := openid.New(openid.Options{
		Issuer: s.issuer.String(), Discovery: discovery(d.Config, s.issuer), ClientID: s.client,
		ReturnURL: root.JoinPath("sign-in"), SignOutURL: s.signOut, Secret: secret, Now: d.Service.Now,
	})
	if err != nil {
		return nil, err
	}
	return dashboard.New(d.Service, dashboard.Options{
		Log: d.Log, SignIn: signIn, Sessions: d.Table.Sessions, Secret: secret,
		PublicURL: s.public, Prefix: rest.Base, Storage: storage, Document: rest.Document(),
	})
}

// readSecret returns the key that seals cookies: the digest of a text in Secrets Manager, which must
// have at least 32 characters.
func readSecret(ctx context.Context, cfg aws.Config, id string) ([32]byte, error) {
	out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &id})
	if err != nil {
		return [32]byte{}, fmt.Errorf("read the dashboard's secret: %w", err)
	}
	text := aws.ToString(out.SecretString)
	if len(text) < sha256.Size {
		return [32]byte{}, fmt.Errorf("the dashboard's secret has %d characters, want %d or more", len(text), sha256.Size)
	}
	return sha256.Sum256([]byte(text)), nil
}

// discovery returns the address under which the issuer's document lies. That is the issuer's own
// address, except on an emulator, which serves all its services at one address.
func discovery(cfg aws.Config, issuer *url.URL) string {
	if cfg.BaseEndpoint == nil {
		return issuer.String()
	}
	return strings.TrimSuffix(*cfg.BaseEndpoint, "/") + issuer.Path
}

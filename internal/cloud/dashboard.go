package cloud

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

	"lipsync/internal/dashboard"
	"lipsync/internal/gateway"
	"lipsync/internal/openid"
	"lipsync/internal/rest"
)

// Dashboard is the pages that people see, to be put behind API Gateway. The home
// has to have Records and SignedMedia.
func (h *Home) Dashboard(ctx context.Context) (http.Handler, error) {
	public := h.Settings.Address("LIPSYNC_PUBLIC_URL") // scheme and host
	signOut := h.Settings.Address("LIPSYNC_SIGN_OUT_URL")
	issuer, clientID := h.Settings.Address("LIPSYNC_ISSUER"), h.Settings.Text("LIPSYNC_CLIENT_ID")
	secretID := h.Settings.Text("LIPSYNC_SECRET_ARN")
	if err := errors.Join(h.Settings.errs...); err != nil {
		return nil, err
	}
	secret, err := h.secret(ctx, secretID)
	if err != nil {
		return nil, err
	}
	storage, err := h.objects.Origin(ctx)
	if err != nil {
		return nil, err
	}
	root := public.JoinPath(gateway.Stage, dashboard.Root)
	signOut.RawQuery = url.Values{ // as Cognito reads it
		"client_id": {clientID}, "logout_uri": {root.JoinPath("signed-out").String()},
	}.Encode()
	signIn, err := openid.New(openid.Options{
		Issuer: issuer.String(), Discovery: h.discovery(issuer), ClientID: clientID,
		ReturnURL: root.JoinPath("sign-in"), SignOutURL: signOut, Secret: secret, Now: h.Service.Now,
	})
	if err != nil {
		return nil, err
	}
	return dashboard.New(h.Service, dashboard.Options{
		Log: h.Log, SignIn: signIn, Sessions: h.records, Secret: secret,
		PublicURL: public, Prefix: gateway.Stage, Storage: storage, Document: rest.Document(),
	})
}

// secret returns what seals cookies: the digest of a text in Secrets Manager, of
// any length.
func (h *Home) secret(ctx context.Context, id string) ([32]byte, error) {
	out, err := secretsmanager.NewFromConfig(h.aws).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &id})
	if err != nil {
		return [32]byte{}, fmt.Errorf("read the dashboard's secret: %w", err)
	}
	text := aws.ToString(out.SecretString)
	if len(text) < sha256.Size {
		return [32]byte{}, fmt.Errorf("the dashboard's secret has %d characters, want %d or more", len(text), sha256.Size)
	}
	return sha256.Sum256([]byte(text)), nil
}

// discovery is where the issuer's document lies: under its own name, but that an
// emulator has it under the address of all its services.
func (h *Home) discovery(issuer *url.URL) string {
	if h.aws.BaseEndpoint == nil {
		return issuer.String()
	}
	return strings.TrimSuffix(*h.aws.BaseEndpoint, "/") + issuer.Path
}

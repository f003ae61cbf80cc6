package s3

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentity"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// Signer says whose sessions sign URLs. A URL is valid only as long as the credentials that signed
// it. A function's own credentials may end within minutes, at a time that AWS does not promise; so
// they can't sign.
type Signer struct {
	// Role is the ARN of a role that the function, and the identities of the pool, may assume; ""
	// for the configuration's own credentials.
	Role string
	// Pool is the id of an identity pool of Cognito; "" for none.
	Pool string
}

// AWS gives sessions of up to 12 hours to callers that an identity provider such as Cognito
// vouches for. A caller that itself has a role, as a function has, gets sessions of one hour.
const (
	longLife  = 12 * time.Hour
	longUse   = 9 * time.Hour // so that the last URL that is signed is still valid for 3 hours
	shortLife = time.Hour
	shortUse  = 2 * time.Second // a page of a list needs only one session
)

// longPause is how long the signer waits, after it could not get a long session, before it asks
// for one again. Without it each URL would wait for Cognito, up to tokenTime.
const longPause = time.Minute

// sessionName is the name of the sessions in AWS's logs.
const sessionName = "lipsync-urls"

// newSigner returns the client that signs URLs.
func newSigner(cfg aws.Config, s Signer) *s3.PresignClient {
	if s.Role != "" {
		cfg.Credentials = s.sessions(cfg)
	}
	return s3.NewPresignClient(newClient(cfg))
}

// sessions returns the credentials of the role.
func (s Signer) sessions(cfg aws.Config) aws.CredentialsProvider {
	client := sts.NewFromConfig(cfg)
	short := cached(shortLife-shortUse, stscreds.NewAssumeRoleProvider(client, s.Role, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName, o.Duration = sessionName, shortLife
	}))
	if s.Pool == "" {
		return short
	}
	vouched := identity{cognitoidentity.NewFromConfig(cfg), s.Pool}
	long := cached(longLife-longUse, stscreds.NewWebIdentityRoleProvider(client, s.Role, vouched, func(o *stscreds.WebIdentityRoleOptions) {
		o.RoleSessionName, o.Duration = sessionName, longLife
	}))
	return &sessions{long: long, short: short}
}

// cached caches credentials until they end within the window.
func cached(window time.Duration, of aws.CredentialsProvider) aws.CredentialsProvider {
	return aws.NewCredentialsCache(of, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = window })
}

// sessions are long sessions if possible. Otherwise a URL is valid for an hour less shortUse, and
// costs one call of STS.
type sessions struct {
	long, short aws.CredentialsProvider

	mu     sync.Mutex
	failed error     // why there was no long session
	again  time.Time // when to ask for one again
}

// Retrieve implements aws.CredentialsProvider.
func (s *sessions) Retrieve(ctx context.Context) (aws.Credentials, error) {
	c, err := s.retrieveLong(ctx)
	if err == nil {
		return c, nil
	}
	c, shortErr := s.short.Retrieve(ctx)
	if shortErr != nil {
		return c, fmt.Errorf("session that signs: %w", errors.Join(err, shortErr))
	}
	return c, nil
}

// retrieveLong returns a long session. For a while after a failure it returns that failure.
func (s *sessions) retrieveLong(ctx context.Context) (aws.Credentials, error) {
	s.mu.Lock()
	failed, again := s.failed, s.again
	s.mu.Unlock()
	if time.Now().Before(again) {
		return aws.Credentials{}, failed
	}
	c, err := s.long.Retrieve(ctx)
	if err != nil && ctx.Err() == nil {
		s.mu.Lock()
		s.failed, s.again = err, time.Now().Add(longPause)
		s.mu.Unlock()
	}
	return c, err
}

// identity is the only identity of a pool. Cognito vouches for it to those who have the right to
// ask.
type identity struct {
	client *cognitoidentity.Client
	pool   string
}

// provider is the pool's provider of identities, and signer is the name of its only identity.
const (
	Provider = "lipsync"
	signer   = "signer"
)

// tokenTime bounds the call of Cognito.
const tokenTime = 5 * time.Second

// GetIdentityToken implements stscreds.IdentityTokenRetriever.
func (i identity) GetIdentityToken() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), tokenTime)
	defer cancel()
	out, err := i.client.GetOpenIdTokenForDeveloperIdentity(ctx, &cognitoidentity.GetOpenIdTokenForDeveloperIdentityInput{
		IdentityPoolId: &i.pool, Logins: map[string]string{Provider: signer},
	})
	if err != nil {
		return nil, err
	}
	return []byte(aws.ToString(out.Token)), nil
}

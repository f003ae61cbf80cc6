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

// Signer names the role whose sessions sign URLs. A URL is valid only as long as the credentials
// that signed it. A function's own credentials don't suffice, since they may end within minutes, at
// a time that AWS does not promise.
type Signer struct {
	// Role is the ARN of a role that the function, and the identities of the pool, may assume; ""
	// for the configuration's own credentials.
	Role string
	// Pool is the id of an identity pool of Cognito; "" for none.
	Pool string
}

// AWS gives sessions of up to 12 hours to callers with a token of an identity provider, such as
// Cognito. A caller that itself has a role, as a function has, gets sessions of one hour.
const (
	longLife  = 12 * time.Hour
	longUse   = 9 * time.Hour // a URL signed at the end of this time is still valid for 3 hours
	shortLife = time.Hour
	shortUse  = 2 * time.Second // long enough to sign all URLs of a page of a list with one session
)

// longPause is the time after a failure to get a long session in which the signer does not ask for
// one again. Without the pause, each URL could wait for Cognito for tokenTime.
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

// cached caches credentials. It gets new ones once the old ones end within the window.
func cached(window time.Duration, of aws.CredentialsProvider) aws.CredentialsProvider {
	return aws.NewCredentialsCache(of, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = window })
}

// sessions has the credentials of a long session if possible, otherwise of a short one. A URL that a
// short session signs is valid for an hour less shortUse, and may cost a call of STS.
type sessions struct {
	long, short aws.CredentialsProvider

	mu     sync.Mutex
	failed error     // of the last attempt to get a long session
	again  time.Time // time from which on to ask for one again
}

var _ aws.CredentialsProvider = (*sessions)(nil)

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

// identity is the only identity of a pool. Cognito gives its token to callers that have the right to
// ask for it.
type identity struct {
	client *cognitoidentity.Client
	pool   string
}

// Provider is the pool's provider of identities, and signer is the name of its only identity.
const (
	Provider = "lipsync"
	signer   = "signer"
)

// tokenTime bounds the call of Cognito.
const tokenTime = 5 * time.Second

var _ stscreds.IdentityTokenRetriever = (*identity)(nil)

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

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

// Signer says whose sessions sign URLs. Credentials that a function has of its own last
// as long as their giver likes, minutes maybe, and nobody says how long; and a URL dies
// with the credentials that signed it.
type Signer struct {
	// Role is the ARN of a role that the function may take on, and that the identities of
	// the pool may, too; "" for the configuration's own credentials.
	Role string
	// Pool is the id of an identity pool of Cognito; "" for none.
	Pool string
}

// Sessions of half a day are given to those whom another vouches for, as Cognito does. A
// role that takes on another, as a function does by itself, gets an hour.
const (
	longLife  = 12 * time.Hour
	longUse   = 9 * time.Hour // so that a URL that is signed last is still good for 3 hours
	shortLife = time.Hour
	shortUse  = 2 * time.Second // a page of a list needs one session
)

// longPause is for how long nobody asks for a long session after one could not be had: else
// each URL would wait for Cognito, tokenTime at most.
const longPause = time.Minute

// sessionName is how sessions are called in the logs of AWS.
const sessionName = "lipsync-urls"

// newSigner returns what signs URLs.
func newSigner(cfg aws.Config, s Signer) *s3.PresignClient {
	if s.Role != "" {
		cfg.Credentials = s.sessions(cfg)
	}
	return s3.NewPresignClient(newClient(cfg))
}

// sessions returns those of the role.
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

// cached keeps credentials until they end within the window.
func cached(window time.Duration, of aws.CredentialsProvider) aws.CredentialsProvider {
	return aws.NewCredentialsCache(of, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = window })
}

// sessions are long ones where they can be had. Without, a URL is good for an hour, less
// shortUse, and costs a call of STS.
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

// retrieveLong returns a long session, or until the pause after a failure is over the failure.
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

// identity is the one identity of a pool, whom Cognito vouches for to those who may ask it.
type identity struct {
	client *cognitoidentity.Client
	pool   string
}

// Provider is the name of the pool's provider of identities, and signer the name of the one
// identity there.
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

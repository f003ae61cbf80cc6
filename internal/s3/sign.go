package s3

import (
	"context"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

const (
	// sessionLife is what STS gives to a role that takes on another, at most.
	sessionLife = time.Hour
	// sessionUse is how long a session signs, so that a URL that it signs last is
	// still good for an hour, less this. A page of a list needs one session.
	sessionUse = 2 * time.Second
)

// newSigner returns what signs URLs. Credentials that a function has of its own
// last as long as their giver likes, minutes maybe, and nobody says how long:
// hence the role, if there is one.
func newSigner(cfg aws.Config, role string) *s3.PresignClient {
	if role != "" {
		assume := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), role, func(o *stscreds.AssumeRoleOptions) {
			o.RoleSessionName, o.Duration = "lipsync-urls", sessionLife
		})
		cfg.Credentials = aws.NewCredentialsCache(assume, func(o *aws.CredentialsCacheOptions) {
			o.ExpiryWindow = sessionLife - sessionUse
		})
	}
	return s3.NewPresignClient(newClient(cfg))
}

// Origin returns the scheme and host that all signed URLs have.
func (o *Objects) Origin(ctx context.Context) (*url.URL, error) {
	of := o.client.Options()
	endpoint, err := of.EndpointResolverV2.ResolveEndpoint(ctx, s3.EndpointParameters{
		Bucket: &o.bucket, Region: &of.Region, Endpoint: of.BaseEndpoint, ForcePathStyle: &of.UsePathStyle,
	})
	if err != nil {
		return nil, fmt.Errorf("find the bucket: %w", err)
	}
	return &url.URL{Scheme: endpoint.URI.Scheme, Host: endpoint.URI.Host}, nil
}

// SignGet implements lipsync.Objects.
func (o *Objects) SignGet(ctx context.Context, key, name string, until time.Time) (*url.URL, error) {
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": name})
	in := &s3.GetObjectInput{Bucket: &o.bucket, Key: &key, ResponseContentDisposition: &disposition}
	if path.Ext(name) == ".mp4" { // Put knows of no types
		in.ResponseContentType = aws.String("video/mp4")
	}
	signed, err := o.signer.PresignGetObject(ctx, in, expires(until))
	if err != nil {
		return nil, err
	}
	return url.Parse(signed.URL)
}

// SignPut implements lipsync.Objects. The size is signed as Content-Length, which
// every client sends by itself.
func (o *Objects) SignPut(ctx context.Context, key string, size int64, contentType string, until time.Time) (*url.URL, http.Header, error) {
	if size < 1 {
		return nil, nil, errors.New("sign put: a size of 0 can't be signed")
	}
	in := &s3.PutObjectInput{Bucket: &o.bucket, Key: &key, ContentLength: &size}
	headers := http.Header{}
	if contentType != "" {
		in.ContentType = &contentType
		headers.Set("Content-Type", contentType)
	}
	signed, err := o.signer.PresignPutObject(ctx, in, expires(until))
	if err != nil {
		return nil, nil, err
	}
	u, err := url.Parse(signed.URL)
	return u, headers, err
}

// expires lets a URL end at the time. Its seconds count from the full second in
// which it is signed, and 0 of them would mean a quarter of an hour.
func expires(until time.Time) func(*s3.PresignOptions) {
	signed := time.Now().Truncate(time.Second)
	seconds := max(1, math.Ceil(until.Sub(signed).Seconds()))
	return s3.WithPresignExpires(time.Duration(seconds) * time.Second)
}

package s3

import (
	"context"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"lipsync/internal/domain/order"
)

// Origin returns the scheme and host of all signed URLs.
func (o *Objects) Origin(ctx context.Context) (*url.URL, error) {
	of := o.client().Options()
	endpoint, err := of.EndpointResolverV2.ResolveEndpoint(ctx, s3.EndpointParameters{
		Bucket: &o.bucket, Region: &of.Region, Endpoint: of.BaseEndpoint, ForcePathStyle: &of.UsePathStyle,
	})
	if err != nil {
		return nil, fmt.Errorf("find the bucket: %w", err)
	}
	return &url.URL{Scheme: endpoint.URI.Scheme, Host: endpoint.URI.Host}, nil
}

func (o *Objects) SignGet(ctx context.Context, key, name string, until time.Time) (*url.URL, error) {
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": name})
	in := &s3.GetObjectInput{Bucket: &o.bucket, Key: &key, ResponseContentDisposition: &disposition}
	if kind := order.MediaType(name); kind != "" { // Put stores no content type
		in.ResponseContentType = &kind
	}
	signed, err := o.signer().PresignGetObject(ctx, in, expires(until))
	if err != nil {
		return nil, err
	}
	return url.Parse(signed.URL)
}

// SignPut signs a PUT. The size is signed as Content-Length, a header that every
// client sends by itself.
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
	signed, err := o.signer().PresignPutObject(ctx, in, expires(until))
	if err != nil {
		return nil, nil, err
	}
	u, err := url.Parse(signed.URL)
	return u, headers, err
}

// expires returns the option that lets a URL end at the time. S3 counts the lifetime in seconds from
// the whole second of signing. A lifetime of 0 would mean 15 minutes, so it is at least 1.
func expires(until time.Time) func(*s3.PresignOptions) {
	signed := time.Now().Truncate(time.Second)
	seconds := max(1, math.Ceil(until.Sub(signed).Seconds()))
	return s3.WithPresignExpires(time.Duration(seconds) * time.Second)
}

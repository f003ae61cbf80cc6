// Package account reads and changes what an AWS account and region have besides the stack: roles
// that all stacks share, quotas, instances. It signs calls itself, because the SDK's client of EC2
// takes minutes to compile.
package account

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// callTime bounds a call.
const callTime = 30 * time.Second

// Account is an AWS account in the region of its configuration.
type Account struct{ Config aws.Config }

// Error is an error that AWS answered.
type Error struct {
	Service, Code, Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%s)", e.Service, e.Message, e.Code) }

// query calls an action of a service with AWS's Query protocol. It decodes the answer's XML into
// out, unless out is nil.
func (a *Account) query(ctx context.Context, service, version, action string, parameters url.Values, out any) error {
	form := url.Values{"Action": {action}, "Version": {version}}
	for name, values := range parameters {
		form[name] = values
	}
	answer, err := a.call(ctx, service, http.MethodPost, "/", []byte(form.Encode()), http.Header{
		"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"},
	})
	if err != nil || out == nil {
		return err
	}
	return xml.Unmarshal(answer, out)
}

// json calls a service with a JSON protocol, and decodes its answer into out.
func (a *Account) json(ctx context.Context, service, method, path string, headers http.Header, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	answer, err := a.call(ctx, service, method, path, body, headers)
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, out)
}

// call signs and makes a call, and returns the body of its answer.
func (a *Account) call(ctx context.Context, service, method, path string, body []byte, headers http.Header) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	endpoint, region := a.endpoint(service)
	r, err := http.NewRequestWithContext(ctx, method, endpoint+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range headers {
		r.Header[name] = values
	}
	credentials, err := a.Config.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("credentials of AWS: %w", err)
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(ctx, credentials, r, hex.EncodeToString(sum[:]), service, region, time.Now()); err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		return nil, failure(service, response, answer)
	}
	return answer, nil
}

// endpoint returns the URL of a service, and the region that its calls are signed for.
func (a *Account) endpoint(service string) (url, region string) {
	region = a.Config.Region
	switch {
	case a.Config.BaseEndpoint != nil:
		return *a.Config.BaseEndpoint, region
	case service == "iam":
		return "https://iam.amazonaws.com", "us-east-1"
	default:
		return "https://" + service + "." + region + ".amazonaws.com", region
	}
}

// failure returns the error in an answer, which is XML or JSON.
func failure(service string, response *http.Response, answer []byte) error {
	type cause struct {
		Code    string
		Message string
	}
	var x struct {
		Error cause   // of IAM
		EC2   []cause `xml:"Errors>Error"`
	}
	e := &Error{Service: service, Code: response.Status, Message: strings.TrimSpace(string(answer))}
	if xml.Unmarshal(answer, &x) == nil {
		for _, c := range append(x.EC2, x.Error) {
			if c.Code != "" {
				e.Code, e.Message = c.Code, c.Message
			}
		}
		return e
	}
	var j struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	if json.Unmarshal(answer, &j) == nil && j.Message != "" {
		e.Message = j.Message
		if j.Type != "" {
			e.Code = j.Type
		} else if kind := response.Header.Get("X-Amzn-Errortype"); kind != "" {
			e.Code, _, _ = strings.Cut(kind, ":")
		}
	}
	return e
}

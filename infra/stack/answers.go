package stack

import (
	"encoding/json"
	"maps"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/failure"
	"lipsync/internal/http/rest"
)

// answer is an answer that API Gateway gives without calling a function.
type answer struct {
	id      string
	kind    awsapigateway.ResponseType
	status  string // "" keeps API Gateway's status
	message string
	headers map[string]*string
}

// answers returns API Gateway's own answers, in the form of the API's errors.
func answers() []answer {
	const unknown, limited = rest.NoPath, failure.TooManyCalls
	// An empty token bucket has tokens again within a second.
	soon := map[string]*string{"Retry-After": jsii.String("'1'")}
	return []answer{
		// For an unknown path, API Gateway expects a signature by AWS, and treats the client's
		// token as an invalid one.
		{"NoSuchPath", awsapigateway.ResponseType_MISSING_AUTHENTICATION_TOKEN(), "404", unknown, nil},
		{"NoSignature", awsapigateway.ResponseType_INVALID_SIGNATURE(), "404", unknown, nil},
		{"NoSession", awsapigateway.ResponseType_EXPIRED_TOKEN(), "404", unknown, nil},
		{"NoAccess", awsapigateway.ResponseType_ACCESS_DENIED(), "404", unknown, nil},
		{"NoResource", awsapigateway.ResponseType_RESOURCE_NOT_FOUND(), "404", unknown, nil},
		// AWS documents that API Gateway ignores this answer: see infra/README.md, Limits.
		{"TooLarge", awsapigateway.ResponseType_REQUEST_TOO_LARGE(), "413",
			"request body is too large: send files by POST " + rest.UploadsPath, nil},
		{"Throttled", awsapigateway.ResponseType_THROTTLED(), "429", limited, soon},
		{"QuotaExceeded", awsapigateway.ResponseType_QUOTA_EXCEEDED(), "429", limited, soon},
		{"BadRequest", awsapigateway.ResponseType_DEFAULT_4XX(), "", "bad request", nil},
		{"Failure", awsapigateway.ResponseType_DEFAULT_5XX(), "500", "internal error", nil},
	}
}

// options returns the answer's options. Pages of any site may read the answer, which has no
// secrets, because API Gateway can't choose by the page's origin.
func (a answer) options() *awsapigateway.GatewayResponseOptions {
	headers := map[string]*string{"Access-Control-Allow-Origin": jsii.String("'*'")}
	maps.Copy(headers, a.headers)
	body, err := json.Marshal(map[string]string{"error": a.message})
	if err != nil {
		panic(err) // can't happen: text always encodes
	}
	options := &awsapigateway.GatewayResponseOptions{
		Type:            a.kind,
		ResponseHeaders: &headers,
		Templates:       &map[string]*string{"application/json": jsii.String(string(body))},
	}
	if a.status != "" {
		options.StatusCode = jsii.String(a.status)
	}
	return options
}

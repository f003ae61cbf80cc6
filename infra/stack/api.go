package stack

import (
	"net/http"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"
)

// endpoint is a path of the API with the function behind it.
type endpoint struct{ method, path, function string }

// endpoints has each path of the API and the dashboard. Its function gets every
// method that no other has, so that it answers a wrong one as it does on one
// machine: with 405 and the methods that there are. (An answer of API Gateway's own
// would depend on the request's Content-Type, and be 415 or 500 for some.) Where
// there is no endpoint, health answers with 404: API Gateway would take the
// client's token for a bad signature by AWS.
func endpoints() []endpoint {
	const every = "ANY"
	return []endpoint{
		{every, "health", "health"},
		{every, "openapi.yaml", "health"},
		{every, "openapi.json", "health"},
		{every, "v1/users/me", "me"},
		{every, "v1/models", "list-models"},
		{every, "v1/lipsync/generate", "generate"},
		{every, "v1/lipsync/generate-with-media", "generate-with-media"},
		{every, "v1/lipsync/requests", "list-requests"},
		{every, "v1/lipsync/requests/{id}", "get-request"},
		{"DELETE", "v1/lipsync/requests/{id}", "cancel-request"},
		{every, "v1/lipsync/requests/{id}/progress", "get-progress"},
		{every, "v1/lipsync/requests/{id}/details", "get-details"},
		{every, "v1/lipsync/requests/{id}/media", "delete-media"},
		{every, "v1/uploads", "create-upload"},
		{every, "dashboard", "dashboard"},
		{every, "dashboard/{proxy+}", "dashboard"},
		{every, "", "health"},
		{every, "{proxy+}", "health"}, // any path that is not above
	}
}

// clientFunctions are those behind the API.
func clientFunctions() []string {
	var names []string
	for _, e := range endpoints() {
		names = append(names, e.function)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// accessLog is a line for each call. It has the route, as the functions' logs
// name it, and not the path, which may hold a reference_id, no query, and no
// header, which may hold a token. Where API Gateway has no value it writes -, so
// only what there always is is a number.
const accessLog = `{"time":"$context.requestTime","request_id":"$context.requestId","trace":"$context.xrayTraceId",` +
	`"ip":"$context.identity.sourceIp","method":"$context.httpMethod","route":"/` + stageName + `$context.resourcePath",` +
	`"status":"$context.status","bytes":"$context.responseLength","took_ms":$context.responseLatency,` +
	`"integration_ms":"$context.integrationLatency","error":"$context.error.responseType"}`

// stageName is the first element of every path: the API's base URL ends with it.
const stageName = "api"

// addAPI adds what clients call, without its endpoints: others need its address
// before there are functions.
func (s *service) addAPI() {
	calls := s.logGroup("AccessLog")
	s.storageRefused = s.countCalls(calls, "StorageRefused", http.StatusInsufficientStorage)
	s.api = awsapigateway.NewRestApi(s.stack, jsii.String("Api"), &awsapigateway.RestApiProps{
		RestApiName:      jsii.String(s.Name),
		EndpointTypes:    &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
		BinaryMediaTypes: jsii.Strings("*/*"), // else what is no UTF-8 is changed on its way
		CloudWatchRole:   jsii.Bool(false),    // it is the account's: see infra/deploy
		DeployOptions: &awsapigateway.StageOptions{
			StageName:            jsii.String(stageName),
			ThrottlingRateLimit:  jsii.Number(s.RequestRate),
			ThrottlingBurstLimit: jsii.Number(2 * s.RequestRate),
			TracingEnabled:       jsii.Bool(true),
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(calls),
			AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLog)),
		},
	})
	for _, a := range answers() {
		s.api.AddGatewayResponse(jsii.String(a.id), a.options())
	}
}

// addEndpoints puts the functions behind the API.
func (s *service) addEndpoints() {
	for _, e := range endpoints() {
		s.api.Root().ResourceForPath(jsii.String(e.path)).AddMethod(jsii.String(e.method),
			awsapigateway.NewLambdaIntegration(s.functions[e.function], &awsapigateway.LambdaIntegrationOptions{
				AllowTestInvoke: jsii.Bool(false),
			}), nil)
	}
}

// host is where the API is, as browsers call an origin.
func (s *service) host() string {
	return "https://" + *s.api.RestApiId() + ".execute-api." + *s.stack.Region() + "." + *s.stack.UrlSuffix()
}

// address is that of a path of the API.
func (s *service) address(path string) *string {
	return jsii.String(s.host() + "/" + stageName + path)
}

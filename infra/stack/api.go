package stack

import (
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/rest"
	"lipsync/internal/settings"
)

// route is a path below the stage, with the function behind it.
type route struct{ method, path, function string }

// routes has each path of the API and the dashboard. Its function gets every
// method that no other has, so that it answers a wrong one as it does on one
// machine: with 405 and the methods that there are. (An answer of API Gateway's own
// would depend on the request's Content-Type, and be 415 or 500 for some.) Where
// there is no endpoint, health answers with 404: API Gateway would take the
// client's token for a bad signature by AWS.
func routes() []route {
	const every, dashboard, health = "ANY", "dashboard", "health"
	var all []route
	for _, e := range rest.Endpoints() {
		r := route{every, strings.TrimPrefix(e.Path, "/"), e.Function}
		if slices.ContainsFunc(all, func(other route) bool { return other.path == r.path }) {
			r.method = e.Method
		}
		all = append(all, r)
	}
	return append(all,
		route{every, dashboardPath[1:], dashboard},
		route{every, dashboardPath[1:] + "/{proxy+}", dashboard},
		route{every, "", health},
		route{every, "{proxy+}", health}) // any path that is not above
}

// clientFunctions are those behind the API.
func clientFunctions() []string {
	var names []string
	for _, r := range routes() {
		names = append(names, r.function)
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

// addAPI adds what clients call, without its routes: others need its address
// before there are functions.
func (s *service) addAPI() {
	calls := s.logGroup("AccessLog")
	s.storageRefused = s.countCalls(calls, "StorageRefused", http.StatusInsufficientStorage)
	s.api = awsapigateway.NewRestApi(s.stack, jsii.String("Api"), &awsapigateway.RestApiProps{
		RestApiName:      jsii.String(settings.Name.In(s.Values)),
		EndpointTypes:    &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
		BinaryMediaTypes: jsii.Strings("*/*"), // else what is no UTF-8 is changed on its way
		CloudWatchRole:   jsii.Bool(false),    // it is the account's: see infra/deploy
		DeployOptions: &awsapigateway.StageOptions{
			StageName:            jsii.String(stageName),
			ThrottlingRateLimit:  jsii.Number(settings.RequestRate.In(s.Values)),
			ThrottlingBurstLimit: jsii.Number(2 * settings.RequestRate.In(s.Values)),
			TracingEnabled:       jsii.Bool(true),
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(calls),
			AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLog)),
		},
	})
	for _, a := range answers() {
		s.api.AddGatewayResponse(jsii.String(a.id), a.options())
	}
}

// addRoutes puts the functions behind the API.
func (s *service) addRoutes() {
	for _, r := range routes() {
		s.api.Root().ResourceForPath(jsii.String(r.path)).AddMethod(jsii.String(r.method),
			awsapigateway.NewLambdaIntegration(s.functions[r.function], &awsapigateway.LambdaIntegrationOptions{
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

package stack

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"

	"lipsync/infra/stack/alarms"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/agents"
	"lipsync/internal/http/rest"
)

// route is a method and a path below the stage, with the function that answers them.
type route struct{ method, path, function string }

// routes returns each path of the API and the dashboard. The path's function also gets every method
// that no other function has. It answers a wrong method as on one machine: with 405 and the allowed
// methods. API Gateway's own answer would depend on the request's Content-Type and be 415 or 500
// for some. For an unknown path, health answers with 404, because API Gateway would treat the
// client's token as an invalid signature by AWS.
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
		route{every, agents.Path[1:], "mcp"},
		route{every, dashboardPath[1:], dashboard},
		route{every, dashboardPath[1:] + "/{proxy+}", dashboard},
		route{every, "", health},
		route{every, "{proxy+}", health}) // any other path
}

// clientFunctions returns the names of the functions behind the API.
func clientFunctions() []string {
	var names []string
	for _, r := range routes() {
		names = append(names, r.function)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// accessLog is the format of the log line for each call. It has the route, as the functions' logs
// name it. It has no path, which may have a reference_id, no query, and no header, which may have a
// token. API Gateway writes - for a missing value, so only values that always exist are numbers.
const accessLog = `{"time":"$context.requestTime","request_id":"$context.requestId","trace":"$context.xrayTraceId",` +
	`"ip":"$context.identity.sourceIp","method":"$context.httpMethod","route":"` + rest.Base + `$context.resourcePath",` +
	`"status":"$context.status","bytes":"$context.responseLength","took_ms":$context.responseLatency,` +
	`"integration_ms":"$context.integrationLatency","error":"$context.error.responseType"}`

// stageName is the first element of every path, so that an endpoint has the same path as on one machine.
var stageName = strings.TrimPrefix(rest.Base, "/")

// openShare is the part of the calls a second that each route without a key takes.
const openShare = .2

// throttles returns the rates of the routes that anyone may call: the pages of the dashboard, unknown paths and endpoints without a key. A route with a rate of
// its own doesn't use up that of others, so that strangers leave room for clients. (A call with an invalid key counts in the route that it names.)
func (s *service) throttles() *map[string]*awsapigateway.MethodDeploymentOptions {
	rate := max(1, float64(settings.RequestRate.In(s.Values))*openShare)
	all := map[string]*awsapigateway.MethodDeploymentOptions{}
	for _, r := range routes() {
		keyed := r.function == "mcp" || slices.ContainsFunc(rest.Endpoints(), func(e rest.Endpoint) bool { return e.Function == r.function && e.Calls != "" })
		if !keyed {
			all["/"+r.path+"/"+r.method] = &awsapigateway.MethodDeploymentOptions{
				ThrottlingRateLimit: jsii.Number(rate), ThrottlingBurstLimit: jsii.Number(2 * rate),
			}
		}
	}
	return &all
}

// addAPI adds the API without its routes. Other parts need its address before the functions exist.
func (s *service) addAPI() {
	calls := s.logGroup("AccessLog")
	s.storageRefused = alarms.CountCalls(s.stack, s.Values, calls, "StorageRefused", "status", strconv.Itoa(http.StatusInsufficientStorage))
	s.callsThrottled = alarms.CountCalls(s.stack, s.Values, calls, "RateExceeded", "error", "THROTTLED")
	s.api = awsapigateway.NewRestApi(s.stack, jsii.String("Api"), &awsapigateway.RestApiProps{
		RestApiName:      jsii.String(settings.Name.In(s.Values)),
		EndpointTypes:    &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
		BinaryMediaTypes: jsii.Strings("*/*"), // otherwise API Gateway changes bytes that are not UTF-8
		CloudWatchRole:   jsii.Bool(false),    // the account has one: see infra/deploy
		DeployOptions: &awsapigateway.StageOptions{
			StageName:            jsii.String(stageName),
			ThrottlingRateLimit:  jsii.Number(settings.RequestRate.In(s.Values)),
			ThrottlingBurstLimit: jsii.Number(2 * settings.RequestRate.In(s.Values)),
			MethodOptions:        s.throttles(),
			TracingEnabled:       jsii.Bool(true),
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(calls),
			AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLog)),
		},
	})
	for _, a := range answers() {
		s.api.AddGatewayResponse(jsii.String(a.id), a.options())
	}
}

// addRoutes adds the routes of the API to the functions.
func (s *service) addRoutes() {
	for _, r := range routes() {
		s.api.Root().ResourceForPath(jsii.String(r.path)).AddMethod(jsii.String(r.method),
			awsapigateway.NewLambdaIntegration(s.functions[r.function], &awsapigateway.LambdaIntegrationOptions{
				AllowTestInvoke: jsii.Bool(false),
			}), nil)
	}
}

// host returns the API's origin, as browsers name it: at the operator's domain, if there is one.
func (s *service) host() string {
	if name := settings.Domain.In(s.Values); name != "" {
		return "https://" + name
	}
	return "https://" + *s.api.RestApiId() + ".execute-api." + *s.stack.Region() + "." + *s.stack.UrlSuffix()
}

// address returns the URL of a path of the API.
func (s *service) address(path string) *string {
	return jsii.String(s.host() + rest.Base + path)
}

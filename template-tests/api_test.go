package templatetests

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/http/rest"
	"lipsync/internal/test/check"
)

func text(v any) string { return fmt.Sprint(v) }

// route is a method and a path of the API in the template. The method ANY stands for all methods
// that no other route of the path has.
type route struct{ method, path string }

// routes returns the functions behind the API by their routes.
func routes(t *testing.T) map[route]string {
	t.Helper()
	d := deployed()
	all := map[route]string{}
	for _, name := range d.all("AWS::ApiGateway::Method") {
		_, function, _ := strings.Cut(d.get(name, "Integration.Uri"), ":path/2015-03-31/functions/")
		r := route{strings.Trim(d.get(name, "HttpMethod"), `"`), path(t, strings.Trim(d.get(name, "ResourceId"), `"`))}
		all[r] = strings.TrimSuffix(function, `.Arn/invocations"`)
	}
	return all
}

// TestMethods checks that API Gateway passes each call on as it is.
func TestMethods(t *testing.T) {
	for _, name := range deployed().all("AWS::ApiGateway::Method") {
		deployed().check(t, []property{
			{name, "AuthorizationType", `"NONE"`},
			{name, "Integration.Type", `"AWS_PROXY"`},
		})
	}
}

// TestEndpoints checks that each endpoint calls its function. A method that a path does not have must
// call a function of the path, which refuses it. There must be no other routes than those of
// endpoints, of the dashboard, of the tools of assistants, and of unknown paths.
func TestEndpoints(t *testing.T) {
	all := routes(t)
	called := func(method, path string) string { return cmp.Or(all[route{method, path}], all[route{"ANY", path}]) }
	functions := map[string][]string{ // by paths
		"/dashboard": {"DashboardPages"}, "/dashboard/{proxy+}": {"DashboardPages"},
		"/mcp": {"Mcp"},
		"":     {"Health"}, "/{proxy+}": {"Health"}, // unknown paths
	}
	for _, e := range rest.Endpoints() {
		if got, want := called(e.Method, e.Path), logical(e.Function); got != want {
			t.Errorf("%s %s calls %q, want %s", e.Method, e.Path, got, want)
		}
		functions[e.Path] = append(functions[e.Path], logical(e.Function))
	}
	for path, want := range functions {
		if got := called(http.MethodPatch, path); !slices.Contains(want, got) {
			t.Errorf("a wrong method of %s calls %q, want one of %q", path, got, want)
		}
	}
	for r, function := range all {
		if !slices.Contains(functions[r.path], function) {
			t.Errorf("%s %s calls %s, which is not a function of the path", r.method, r.path, function)
		}
	}
}

// path returns the path of a resource of the API.
func path(t *testing.T, resource string) string {
	t.Helper()
	if resource == "Api.RootResourceId" {
		return ""
	}
	if _, ok := deployed().Resources[resource]; !ok {
		t.Fatalf("the API has no resource %s", resource)
	}
	parent, part := deployed().get(resource, "ParentId"), deployed().get(resource, "PathPart")
	return path(t, strings.Trim(parent, `"`)) + "/" + strings.Trim(part, `"`)
}

// TestCallers checks who may call functions: API Gateway on their paths, and the rules of
// EventBridge.
func TestCallers(t *testing.T) {
	want := []string{"Sweep by events at EachMinute.Arn"}
	parameter := regexp.MustCompile(`{[^}]*}`)
	for r, function := range routes(t) {
		method := strings.Replace(r.method, "ANY", "*", 1)
		want = append(want, function+" by apigateway at api/"+method+parameter.ReplaceAllString(cmp.Or(r.path, "/"), "*"))
	}
	var got []string
	for _, name := range deployed().all("AWS::Lambda::Permission") {
		p := deployed().Resources[name].Properties
		service, _, _ := strings.Cut(text(p["Principal"]), ".")
		source := text(p["SourceArn"])
		if service == "apigateway" {
			_, path, _ := strings.Cut(source, ":Api/")
			source = strings.Replace(path, "ApiDeploymentStageapi", "api", 1)
		}
		got = append(got, strings.TrimSuffix(text(p["FunctionName"]), ".Arn")+" by "+service+" at "+source)
	}
	check.Names(t, "callers", got, want)
}

// TestAnswers checks the answers that API Gateway gives without calling a function.
func TestAnswers(t *testing.T) {
	want := map[string]string{
		"MISSING_AUTHENTICATION_TOKEN": `404 {"error":"not found: the paths of the API begin with /api/v1; /api/openapi.yaml describes them, and /api/guide.md explains them"} gatewayresponse.header.Access-Control-Allow-Origin: '*'`,
		"INVALID_SIGNATURE":            `404 {"error":"not found: the paths of the API begin with /api/v1; /api/openapi.yaml describes them, and /api/guide.md explains them"} gatewayresponse.header.Access-Control-Allow-Origin: '*'`,
		"EXPIRED_TOKEN":                `404 {"error":"not found: the paths of the API begin with /api/v1; /api/openapi.yaml describes them, and /api/guide.md explains them"} gatewayresponse.header.Access-Control-Allow-Origin: '*'`,
		"ACCESS_DENIED":                `404 {"error":"not found: the paths of the API begin with /api/v1; /api/openapi.yaml describes them, and /api/guide.md explains them"} gatewayresponse.header.Access-Control-Allow-Origin: '*'`,
		"RESOURCE_NOT_FOUND":           `404 {"error":"not found: the paths of the API begin with /api/v1; /api/openapi.yaml describes them, and /api/guide.md explains them"} gatewayresponse.header.Access-Control-Allow-Origin: '*'`,
		"REQUEST_TOO_LARGE":            `413 {"error":"request body is too large: send files by POST ` + rest.UploadsPath + `"} gatewayresponse.header.Access-Control-Allow-Origin: '*'`,
		"THROTTLED":                    `429 {"error":"rate limit exceeded"} gatewayresponse.header.Access-Control-Allow-Origin: '*' gatewayresponse.header.Retry-After: '1'`,
		"QUOTA_EXCEEDED":               `429 {"error":"rate limit exceeded"} gatewayresponse.header.Access-Control-Allow-Origin: '*' gatewayresponse.header.Retry-After: '1'`,
		"DEFAULT_4XX":                  `{"error":"bad request"} gatewayresponse.header.Access-Control-Allow-Origin: '*'`,
		"DEFAULT_5XX":                  `500 {"error":"internal error"} gatewayresponse.header.Access-Control-Allow-Origin: '*'`,
	}
	got := map[string]string{}
	for _, name := range deployed().all("AWS::ApiGateway::GatewayResponse") {
		p := deployed().Resources[name].Properties
		templates, _ := p["ResponseTemplates"].(map[string]any)
		words := []string{text(templates["application/json"])}
		if status, ok := p["StatusCode"].(string); ok {
			words = slices.Insert(words, 0, status)
		}
		if headers, ok := p["ResponseParameters"].(map[string]any); ok {
			for _, h := range slices.Sorted(maps.Keys(headers)) {
				words = append(words, h+": "+text(headers[h]))
			}
		}
		if len(templates) != 1 {
			t.Errorf("%s answers in %d forms, want JSON only", name, len(templates))
		}
		got[text(p["ResponseType"])] = strings.Join(words, " ")
	}
	for kind, answer := range want {
		if got[kind] != answer {
			t.Errorf("%s: got %s, want %s", kind, got[kind], answer)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d answers, want %d", len(got), len(want))
	}
}

func TestStage(t *testing.T) {
	deployed().check(t, []property{
		{"Api", "EndpointConfiguration.Types", `["REGIONAL"]`},
		{"Api", "BinaryMediaTypes", `["*/*"]`},
		{"ApiDeploymentStageapi", "StageName", `"api"`},
		{"ApiDeploymentStageapi", "TracingEnabled", `true`},
		{"ApiDeploymentStageapi", "AccessLogSetting.DestinationArn", `"AccessLog.Arn"`},
		{"ApiDeploymentStageapi", "MethodSettings.0", `{"DataTraceEnabled":false,"HttpMethod":"*","ResourcePath":"/*","ThrottlingBurstLimit":1000,"ThrottlingRateLimit":500}`},
	})
	other().check(t, []property{
		{"ApiDeploymentStageapi", "MethodSettings.0.ThrottlingRateLimit", `50`},
		{"ApiDeploymentStageapi", "MethodSettings.0.ThrottlingBurstLimit", `100`},
	})
}

// TestOpenRoutes checks that each route that needs no key has a rate of its own, so that calls of it leave room for others, and that no other route has one.
func TestOpenRoutes(t *testing.T) {
	open := map[string]bool{"Health": true, "DashboardPages": true}
	var all []struct {
		ResourcePath, HTTPMethod                  string
		ThrottlingRateLimit, ThrottlingBurstLimit float64
	}
	deployed().read(t, "ApiDeploymentStageapi", "MethodSettings", &all)
	got := map[route]bool{}
	for _, s := range all[1:] {
		r := route{s.HTTPMethod, strings.TrimSuffix(strings.ReplaceAll(strings.TrimPrefix(s.ResourcePath, "/"), "~1", "/"), "/")}
		if got[r] = true; s.ThrottlingRateLimit != 100 || s.ThrottlingBurstLimit != 200 {
			t.Errorf("%v: got %g calls a second, and %g at once, want 100 and 200", r, s.ThrottlingRateLimit, s.ThrottlingBurstLimit)
		}
	}
	for r, function := range routes(t) {
		if got[r] != open[function] {
			t.Errorf("%v of %s: got a rate of its own: %t", r, function, got[r])
		}
		delete(got, r)
	}
	for r := range got {
		t.Errorf("%v has a rate, and is no route", r)
	}
}

// TestFirewall checks the rate of an address, of a stack that has one.
func TestFirewall(t *testing.T) {
	if _, ok := deployed().Resources["Firewall"]; ok {
		t.Error("there is a firewall by default")
	}
	other().check(t, []property{
		{"Firewall", "Scope", `"REGIONAL"`},
		{"Firewall", "DefaultAction", `{"Allow":{}}`},
		{"Firewall", "Rules.0.Statement.RateBasedStatement", `{"AggregateKeyType":"IP","EvaluationWindowSec":60,"Limit":3000}`},
		{"Firewall", "Rules.0.Action.Block.CustomResponse.ResponseCode", `429`},
		{"Firewall", "CustomResponseBodies.limited.Content", `"{\"error\":\"rate limit exceeded\"}"`},
		{"FirewallOfAPI", "WebACLArn", `"Firewall.Arn"`},
	})
}

// TestAccessLog checks that the log has no secrets and no texts of clients.
func TestAccessLog(t *testing.T) {
	var format string
	deployed().read(t, "ApiDeploymentStageapi", "AccessLogSetting.Format", &format)
	for _, secret := range []string{"header", "authorizer", "$context.path", "requestOverride", "querystring", "identity.apiKey", "error.message"} {
		if strings.Contains(format, secret) {
			t.Errorf("the access log has %s", secret)
		}
	}
	for _, want := range []string{`"request_id":"$context.requestId"`, `"route":"/api$context.resourcePath"`, `"took_ms":$context.responseLatency,`} {
		if !strings.Contains(format, want) {
			t.Errorf("the access log is %s, want %s", format, want)
		}
	}
}

func TestOutputs(t *testing.T) {
	want := map[string]string{
		"ApiUrl":             "https://Api.execute-api.AWS::Region.AWS::URLSuffix/api",
		"DashboardUrl":       "https://Api.execute-api.AWS::Region.AWS::URLSuffix/api/dashboard",
		"UserPoolId":         "Users",
		"TableName":          "Table",
		"BucketName":         "Media",
		"QueueUrl":           "Queue",
		"DeadLetterQueueUrl": "DeadLetters",
		"JobQueueArn":        "Jobs.JobQueueArn",
		"AlarmTopicArn":      "Alarms",
		"RollbackAlarmArn":   "ServerErrors.Arn",
	}
	for name, value := range want {
		if got := deployed().Outputs[name]["Value"]; got != value {
			t.Errorf("%s: got %v, want %s", name, got, value)
		}
	}
	if got := other().Outputs["GPUJobQueueArn"]["Value"]; got != "GPUJobs.JobQueueArn" {
		t.Errorf("GPUJobQueueArn: got %v", got)
	}
	if len(deployed().Outputs) != len(want) {
		t.Errorf("got the outputs %v, want %d", deployed().Outputs, len(want))
	}
}

// TestAccount checks that the stack does not change settings that all APIs of the account share.
func TestAccount(t *testing.T) {
	check.Names(t, "settings of the account", deployed().all("AWS::ApiGateway::Account"), nil)
}

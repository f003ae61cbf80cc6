package templatetests

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/rest"
)

func text(v any) string { return fmt.Sprint(v) }

// routes has each method and path of the API with its function in the template, by the table of endpoints: the first endpoint of a
// path gets whatever method has none of its own.
func routes() map[string]string {
	want, seen := map[string]string{}, map[string]bool{}
	for _, e := range rest.Endpoints() {
		method := "ANY"
		if seen[e.Path] {
			method = e.Method
		}
		seen[e.Path] = true
		want[method+" "+e.Path] = logical(e.Function)
	}
	maps.Copy(want, map[string]string{
		"ANY /dashboard":          "DashboardPages",
		"ANY /dashboard/{proxy+}": "DashboardPages",
		"ANY ":                    "Health", // and every other path of the API
		"ANY /{proxy+}":           "Health",
	})
	return want
}

// TestEndpoints checks that each path calls its function, also with methods that the path does not
// have: the function refuses those.
func TestEndpoints(t *testing.T) {
	d := deployed()
	got := map[string]string{}
	for _, name := range d.all("AWS::ApiGateway::Method") {
		d.check(t, []property{
			{name, "AuthorizationType", `"NONE"`},
			{name, "Integration.Type", `"AWS_PROXY"`},
		})
		_, function, _ := strings.Cut(d.get(name, "Integration.Uri"), ":path/2015-03-31/functions/")
		method := strings.Trim(d.get(name, "HttpMethod"), `"`)
		got[method+" "+path(t, strings.Trim(d.get(name, "ResourceId"), `"`))] = strings.TrimSuffix(function, `.Arn/invocations"`)
	}
	if want := routes(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
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
	for route, function := range routes() {
		method, path, _ := strings.Cut(route, " ")
		if method == "ANY" {
			method = "*"
		}
		if path == "" {
			path = "/"
		}
		want = append(want, function+" by apigateway at api/"+method+parameter.ReplaceAllString(path, "*"))
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
	wantNames(t, "callers", got, want)
}

// TestAnswers checks what API Gateway answers by itself.
func TestAnswers(t *testing.T) {
	want := map[string]string{
		"MISSING_AUTHENTICATION_TOKEN": `404 {"error":"not found"} gatewayresponse.header.Access-Control-Allow-Origin: '*'`,
		"INVALID_SIGNATURE":            `404 {"error":"not found"} gatewayresponse.header.Access-Control-Allow-Origin: '*'`,
		"EXPIRED_TOKEN":                `404 {"error":"not found"} gatewayresponse.header.Access-Control-Allow-Origin: '*'`,
		"ACCESS_DENIED":                `404 {"error":"not found"} gatewayresponse.header.Access-Control-Allow-Origin: '*'`,
		"RESOURCE_NOT_FOUND":           `404 {"error":"not found"} gatewayresponse.header.Access-Control-Allow-Origin: '*'`,
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
		{"ApiDeploymentStageapi", "MethodSettings", `[{"DataTraceEnabled":false,"HttpMethod":"*","ResourcePath":"/*","ThrottlingBurstLimit":1000,"ThrottlingRateLimit":500}]`},
	})
	other().check(t, []property{
		{"ApiDeploymentStageapi", "MethodSettings.0.ThrottlingRateLimit", `50`},
		{"ApiDeploymentStageapi", "MethodSettings.0.ThrottlingBurstLimit", `100`},
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
	}
	for name, value := range want {
		if got := deployed().Outputs[name]["Value"]; got != value {
			t.Errorf("%s: got %v, want %s", name, got, value)
		}
	}
	if len(deployed().Outputs) != len(want) {
		t.Errorf("got the outputs %v, want %d", deployed().Outputs, len(want))
	}
}

// TestAccount checks that the stack does not change settings that all APIs of the account share.
func TestAccount(t *testing.T) {
	wantNames(t, "settings of the account", deployed().all("AWS::ApiGateway::Account"), nil)
}

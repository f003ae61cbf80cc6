package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func small(t *testing.T) *assembly {
	t.Helper()
	a, err := readAssembly(filepath.Join("testdata", "small"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestReadAssembly(t *testing.T) {
	a := small(t)
	want := []file{{
		Path: filepath.Join("testdata", "small", "asset.code"), Zip: true,
		Bucket: "assets-${AWS::AccountId}-${AWS::Region}", Key: "c0de.zip",
	}}
	if a.Stack != "Small" || !reflect.DeepEqual(a.Files, want) {
		t.Errorf("got stack %q, files %+v, want Small, %+v", a.Stack, a.Files, want)
	}
	content, err := a.Files[0].content()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.File) != 1 || archive.File[0].Name != "bootstrap" || archive.File[0].Mode().Perm() != 0o755 {
		t.Errorf("got %+v, want only bootstrap, for all to run", archive.File)
	}
}

func TestReadAssemblyRefuses(t *testing.T) {
	if a, err := readAssembly(t.TempDir()); err == nil {
		t.Errorf("empty folder: got %+v, want an error", a)
	}
}

// TestAdapt checks the changes of each part of a small template.
func TestAdapt(t *testing.T) {
	const queue = `{"Fn::Sub":"arn:${AWS::Partition}:batch:${AWS::Region}:${AWS::AccountId}:job-queue/Jobs"}`
	tmpl := small(t).Template
	names, smallNames, err := tmpl.adapt(nil, places{Batch: "http://127.0.0.1:1", Small: 3, API: "http://127.0.0.1:2", Pages: "http://127.0.0.1:3"})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string][]string{"Job": {"LIPSYNC_TABLE", "LIPSYNC_MAX_DURATION"}}; !reflect.DeepEqual(names, want) {
		t.Errorf("got variables %q, want %q", names, want)
	}
	if want := []string{"GOMAXPROCS", "LIPSYNC_TABLE"}; !reflect.DeepEqual(smallNames, want) {
		t.Errorf("got variables of the function %q, want %q", smallNames, want)
	}
	const trust = `{"AssumeRolePolicyDocument":{"Statement":[{"Action":"sts:AssumeRole","Effect":"Allow","Principal":{"AWS":{"Fn::Sub":"arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}}}]}}`
	for name, want := range map[string]string{
		"SmallRole": `{"Type":"AWS::IAM::Role","Properties":` + trust + `}`,
		"JobRole": `{"Type":"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Statement":[` +
			`{"Action":"sts:AssumeRole","Effect":"Allow","Principal":{"AWS":{"Fn::Sub":"arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}}}]}}}`,
		"Table":      `{"Type":"AWS::DynamoDB::Table","Properties":{"BillingMode":"PAY_PER_REQUEST"}}`,
		"Bucket":     `{"Type":"AWS::S3::Bucket"}`,
		"TLSAndMore": `{"Type":"AWS::SQS::QueuePolicy","Properties":{"PolicyDocument":{"Statement":[{"Action":"sqs:SendMessage","Effect":"Allow"}]}}}`,
		"Dispatch": `{"Type":"AWS::Lambda::Function","Properties":{"Environment":{"Variables":{` +
			`"AWS_ENDPOINT_URL_BATCH":"http://127.0.0.1:1","AWS_ENDPOINT_URL_LAMBDA":"http://127.0.0.1:1","LIPSYNC_JOB_QUEUE":` + queue +
			`,"LIPSYNC_SMALL_FUNCTION":{"Fn::Sub":"arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:Small"},"LIPSYNC_SMALL_WORKERS":"3"}}},"DependsOn":["JobRole"]}`,
		"Other":  `{"Type":"AWS::Lambda::Function","Properties":{"Environment":{"Variables":{"LIPSYNC_TABLE":{"Ref":"Table"}}}}}`,
		"Api":    `{"Type":"AWS::ApiGateway::RestApi"}`,
		"Domain": `{"Type":"AWS::Cognito::UserPoolDomain"}`,
		"Secret": `{"Type":"AWS::SecretsManager::Secret"}`,
		"Pages": `{"Type":"AWS::Lambda::Function","Properties":{"Environment":{"Variables":{` +
			`"HOME":{"Fn::Join":["",["http://127.0.0.1:2"]]},"OUT":{"Fn::Join":["",["http://127.0.0.1:3","/logout"]]},` +
			`"SECRET":{"Fn::GetAtt":["Secret","Id"]}}}}}`,
		"OnFailed": `{"Type":"AWS::Events::Rule","Properties":{"EventPattern":{"detail":{"jobQueue":[` + queue + `]},"source":["aws.batch"]},` +
			`"Targets":[{"Arn":{"Fn::GetAtt":["Other","Arn"]},"Id":"Target0"}]}}`,
	} {
		wantJSON(t, name, tmpl.Resources[name], want)
		delete(tmpl.Resources, name)
	}
	if len(tmpl.Resources) > 0 {
		t.Errorf("got more resources: %+v", tmpl.Resources)
	}
	for name, want := range map[string]string{
		"ApiUrl":               `{"Value":{"Fn::Join":["",["at http://127.0.0.1:2","/api/",{"Ref":"Table"}]]}}`,
		"LocalAPI":             `{"Value":{"Ref":"Api"}}`,
		"TableName":            `{"Value":{"Ref":"Table"}}`,
		"JobQueue":             `{"Value":{"Fn::Join":["",["queue ",` + queue + `]]}}`,
		"LocalJobRole":         `{"Value":{"Fn::GetAtt":["JobRole","Arn"]}}`,
		"LocalJobVariableJob0": `{"Value":{"Ref":"Table"}}`,
		"LocalJobVariableJob1": `{"Value":"1h"}`,

		"LocalSmallRole":      `{"Value":{"Fn::GetAtt":["SmallRole","Arn"]}}`,
		"LocalSmallVariable0": `{"Value":"2"}`,
		"LocalSmallVariable1": `{"Value":{"Ref":"Table"}}`,
	} {
		wantJSON(t, name, tmpl.Outputs[name], want)
	}
}

func TestJobAttempts(t *testing.T) {
	tmpl := small(t).Template
	if got, err := tmpl.jobAttempts(); err != nil || got != 7 {
		t.Errorf("got %d attempts (error %v), want 7", got, err)
	}
	tmpl.Resources["Other"] = &resource{Type: tmpl.Resources["Job"].Type, Properties: map[string]any{"RetryStrategy": map[string]any{"Attempts": 8.}}}
	if got, err := tmpl.jobAttempts(); err == nil {
		t.Errorf("two definitions: got %d attempts, want an error", got)
	}
	delete(tmpl.Resources, "Other")
	delete(tmpl.Resources["Job"].Properties, "RetryStrategy")
	if got, err := tmpl.jobAttempts(); err == nil {
		t.Errorf("no strategy: got %d attempts, want an error", got)
	}
	delete(tmpl.Resources, "Job")
	if got, err := tmpl.jobAttempts(); err == nil {
		t.Errorf("no definition: got %d attempts, want an error", got)
	}
}

func TestAdaptRefuses(t *testing.T) {
	for missing, change := range map[string]func(*template){
		"job definition": func(t *template) { delete(t.Resources, "Job") },
		"job role":       func(t *template) { delete(t.Resources, "JobRole") },
		"small function": func(t *template) { delete(t.Resources, "Small") },
		"API":            func(t *template) { delete(t.Resources, "Api") },
		"common role": func(t *template) {
			role := map[string]any{"Fn::GetAtt": []any{"SmallRole", "Arn"}}
			t.Resources["Other"] = &resource{Type: t.Resources["Job"].Type, Properties: map[string]any{"ContainerProperties": map[string]any{"JobRoleArn": role}}}
		},
	} {
		tmpl := small(t).Template
		change(&tmpl)
		if _, _, err := tmpl.adapt(nil, places{}); err == nil {
			t.Errorf("no %s: got no error", missing)
		}
	}
}

func wantJSON(t *testing.T, name string, got any, want string) {
	t.Helper()
	b, err := json.Marshal(got)
	if err != nil || string(b) != want {
		t.Errorf("%s: got %s (error %v), want %s", name, b, err, want)
	}
}

// TestAdaptWithout checks that nothing of Cognito stays in a template without it, nor a reference to it.
func TestAdaptWithout(t *testing.T) {
	if err := fixtures.make(); err != nil {
		t.Fatal(err)
	}
	a, err := readAssembly(fixtures.built.Assembly)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Template.adapt([]string{"AWS::Cognito::"}, places{Batch: "http://127.0.0.1:1", API: "http://127.0.0.1:2", Pages: "http://127.0.0.1:3"}); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(a.Template)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range a.Template.Resources {
		if strings.HasPrefix(r.Type, "AWS::Cognito") {
			t.Errorf("%s is still there", name)
		}
	}
	for _, reference := range regexp.MustCompile(`"(?:Ref|Fn::GetAtt)":\[?"([A-Za-z0-9]+)"`).FindAllStringSubmatch(string(text), -1) {
		if _, known := a.Template.Resources[reference[1]]; !known && a.Template.Parameters[reference[1]] == nil {
			t.Errorf("there is a reference to %s, which isn't there", reference[1])
		}
	}
}

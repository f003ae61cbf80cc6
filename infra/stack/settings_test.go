package stack_test

import (
	"maps"
	"strings"
	"testing"

	"lipsync/infra/stack"
	"lipsync/internal/domain/settings"
)

// defaults returns the settings in effect if the operator sets none.
func defaults() map[string]string {
	return map[string]string{
		"lipsync:name": "Lipsync", "lipsync:keepData": "true",
		"lipsync:image": "cpu", "lipsync:zones": "3", "lipsync:zoneNames": "", "lipsync:instanceTypes": "c6i.xlarge,c7i.xlarge,c6a.xlarge,c7a.xlarge,m6i.xlarge,m7i.xlarge,m6a.xlarge,m7a.xlarge",
		"lipsync:spotVcpus": "64", "lipsync:onDemandVcpus": "16", "lipsync:gpuInstanceTypes": "g6.xlarge,g5.xlarge,g6e.xlarge", "lipsync:gpuSpotVcpus": "32", "lipsync:gpuOnDemandVcpus": "16", "lipsync:jobTimeout": "6h0m0s", "lipsync:engines": "warp", "lipsync:nvidiaEncode": "false",
		"lipsync:generateRate": "60", "lipsync:readRate": "600", "lipsync:requestRate": "500", "lipsync:addressRate": "0", "lipsync:healthCheck": "false", "lipsync:lambdaQuota": "10", "lipsync:monthlyBudget": "0",
		"lipsync:maxOpenRequests": "1000", "lipsync:maxStoredGiB": "1024", "lipsync:maxKeys": "1000", "lipsync:keepInputs": "24h0m0s", "lipsync:keepOutputs": "168h0m0s", "lipsync:keepRecords": "8760h0m0s",
		"lipsync:maxVideoMiB": "5120", "lipsync:maxAudioMiB": "500", "lipsync:maxDuration": "1h0m0s", "lipsync:maxSide": "4096", "lipsync:maxFps": "120", "lipsync:maxGigapixels": "2000", "lipsync:keepFindings": "24h0m0s",
		"lipsync:provenanceSecret": "", "lipsync:requireProvenance": "false",
		"lipsync:selfSignUp": "false", "lipsync:corsOrigins": "*", "lipsync:logDays": "30", "lipsync:alarmEmail": "",
		"lipsync:domain": "", "lipsync:certificate": "", "lipsync:signInDomain": "", "lipsync:signInCertificate": "",
		"lipsync:eventBus": "", "lipsync:smallWorkers": "2",
	}
}

func TestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		context map[string]any
		want    map[string]string // settings that differ from the defaults
	}{
		"none": {nil, nil},
		"those of CDK are not ours": {
			map[string]any{"@aws-cdk/aws-iam:minimizePolicies": true, "aws:cdk:bundling-stacks": []any{"*"}}, nil,
		},
		"of a file": {
			map[string]any{"lipsync:keepData": false, "lipsync:spotVcpus": 8.0, "lipsync:instanceTypes": []any{"g5.2xlarge", "g6e.xlarge"}},
			map[string]string{"lipsync:keepData": "false", "lipsync:spotVcpus": "8", "lipsync:instanceTypes": "g5.2xlarge,g6e.xlarge"},
		},
		"large numbers of a file": {
			map[string]any{"lipsync:generateRate": 1e6, "lipsync:readRate": 1_000_000.0},
			map[string]string{"lipsync:generateRate": "1000000", "lipsync:readRate": "1000000"},
		},
		"of the command line": {
			map[string]any{
				"lipsync:keepData": "false", "lipsync:spotVcpus": "8", "lipsync:instanceTypes": "g5.2xlarge,g6e.xlarge",
				"lipsync:maxDuration": "90m", "lipsync:logDays": "365", "lipsync:corsOrigins": "https://a.example",
				"lipsync:engines": "wav2lip,warp", "lipsync:keepInputs": "2h", "lipsync:keepOutputs": "100h",
			},
			map[string]string{
				"lipsync:keepData": "false", "lipsync:spotVcpus": "8", "lipsync:instanceTypes": "g5.2xlarge,g6e.xlarge",
				"lipsync:maxDuration": "1h30m0s", "lipsync:logDays": "365", "lipsync:corsOrigins": "https://a.example",
				"lipsync:engines": "wav2lip,warp", "lipsync:keepInputs": "2h0m0s", "lipsync:keepOutputs": "100h0m0s",
			},
		},
		"a GPU": {
			map[string]any{"lipsync:image": "cuda", "lipsync:engines": "warp,musetalk"},
			map[string]string{"lipsync:image": "cuda", "lipsync:engines": "warp,musetalk"},
		},
	} {
		want := defaults()
		maps.Copy(want, c.want)
		got, err := stack.ParseSettings(c.context)
		if err != nil || !maps.Equal(got.InEffect, want) {
			t.Errorf("%s: got %v, %v, want %v", name, got.InEffect, err, want)
		}
	}
	s, err := stack.ParseSettings(nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, f, a := settings.Repository.In(s.Values), settings.FunctionsFolder.In(s.Values), settings.Architecture.In(s.Values); r != ".." || f != "../dist/functions" || a != "arm64" {
		t.Errorf("got %s, %s, %s", r, f, a)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		setting string
		value   any
		want    string
	}{
		{"spotVCPUs", 8, "lipsync:spotVCPUs is not a setting of this service"},
		{"name", "-x", `lipsync:name is "-x", but must be letters, digits and dashes, a letter first, at most 40`},
		{"keepData", "no", `lipsync:keepData is "no", but must be true or false`},
		{"image", "tpu", `lipsync:image is "tpu", but must be cpu or cuda`},
		{"zones", 7, `lipsync:zones is "7", but must be a whole number from 1 to 6`},
		{"instanceTypes", "g5", `lipsync:instanceTypes is "g5", but must be a type such as g5.xlarge, or several between commas`},
		{"instanceTypes", []any{}, `lipsync:instanceTypes is "", but must be a type such as g5.xlarge, or several between commas`},
		{"spotVcpus", -1, `lipsync:spotVcpus is "-1", but must be a whole number from 0 to 100000`},
		{"onDemandVcpus", 1.5, `lipsync:onDemandVcpus is "1.5", but must be a whole number from 0 to 100000`},
		{"jobTimeout", "6", `lipsync:jobTimeout is "6", but must be a time in whole seconds from 10m to 168h, such as 90m`},
		{"jobTimeout", "1m", `lipsync:jobTimeout is "1m", but must be a time in whole seconds from 10m to 168h, such as 90m`},
		{"engines", "Warp", `lipsync:engines is "Warp", but must be warp or wav2lip or musetalk, or several between commas`},
		{"nvidiaEncode", true, `lipsync:nvidiaEncode is true, but lipsync:image is cpu`},
		{"nvidiaEncode", "true", `lipsync:nvidiaEncode is true, but lipsync:image is cpu`},
		{"nvidiaEncode", "2", `lipsync:nvidiaEncode is "2", but must be true or false`},
		{"generateRate", "many", `lipsync:generateRate is "many", but must be a whole number from 1 to 1000000`},
		{"readRate", 0, `lipsync:readRate is "0", but must be a whole number from 1 to 1000000`},
		{"readRate", 2e6, `lipsync:readRate is "2000000", but must be a whole number from 1 to 1000000`},
		{"readRate", 1.5, `lipsync:readRate is "1.5", but must be a whole number from 1 to 1000000`},
		{"requestRate", 20000, `lipsync:requestRate is "20000", but must be a whole number from 1 to 10000`},
		{"addressRate", 9, `lipsync:addressRate is "9", but must be 0, or a whole number from 10 to 100000000`},
		{"maxVideoMiB", 5121, `lipsync:maxVideoMiB is "5121", but must be a whole number of MiB from 1 to 5120`},
		{"maxAudioMiB", "500MiB", `lipsync:maxAudioMiB is "500MiB", but must be a whole number of MiB from 1 to 5120`},
		{"maxDuration", "0s", `lipsync:maxDuration is "0s", but must be a time in whole seconds from 1s to 24h, such as 90m`},
		{"maxSide", 8, `lipsync:maxSide is "8", but must be a whole number from 16 to 8192`},
		{"maxFps", 241, `lipsync:maxFps is "241", but must be a whole number from 1 to 240`},
		{"corsOrigins", "example.com", `lipsync:corsOrigins is "example.com", but must be * or an origin such as https://example.com, or several between commas`},
		{"logDays", 31, `lipsync:logDays is "31", but must be one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653`},
		{"alarmEmail", "me", `lipsync:alarmEmail is "me", but must be an e-mail address`},
		{"provenanceSecret", "a secret", `lipsync:provenanceSecret is "a secret", but must be the name of a secret`},
		{"provenanceSecret", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:signer-a1b2c3", `lipsync:provenanceSecret is "arn:aws:secretsmanager:eu-west-1:123456789012:secret:signer-a1b2c3", but must be the name of a secret`},
		{"requireProvenance", true, `lipsync:requireProvenance needs lipsync:provenanceSecret too`},
		{"domain", "https://example.com", `lipsync:domain is "https://example.com", but must be a domain name in small letters, such as lipsync.example.com`},
		{"domain", "lipsync.example.com", `lipsync:domain needs lipsync:certificate too`},
		{"certificate", "arn:aws:acm:eu-west-1:123456789012:certificate/1", `lipsync:certificate needs lipsync:domain too`},
		{"certificate", "arn:aws:iam::123456789012:server-certificate/x", `lipsync:certificate is "arn:aws:iam::123456789012:server-certificate/x", but must be the ARN of a certificate, such as arn:aws:acm:us-east-1:123456789012:certificate/12345678-1234-1234-1234-123456789012`},
		{"signInDomain", "auth.example.com", `lipsync:signInDomain needs lipsync:signInCertificate too`},
		{"architecture", "arm", `lipsync:architecture is "arm", but must be arm64 or x86_64`},
		{"functions", "", `lipsync:functions is "", but must be a path`},
		{"repository", "", `lipsync:repository is "", but must be a path`},
	} {
		_, err := stack.ParseSettings(map[string]any{"lipsync:" + c.setting: c.value})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s %v: got %v, want %s", c.setting, c.value, err, c.want)
		}
	}
}

// TestTooFew refuses instances on which no job fits, and GPUs that no engine uses.
func TestTooFew(t *testing.T) {
	for want, given := range map[string]map[string]any{
		"lipsync:spotVcpus and lipsync:onDemandVcpus are both less than the 4 that one job takes": {"lipsync:spotVcpus": 3, "lipsync:onDemandVcpus": "0"},
		"lipsync:gpuSpotVcpus and lipsync:gpuOnDemandVcpus are both less than the 4 that one job takes": {
			"lipsync:image": "cuda", "lipsync:engines": "wav2lip", "lipsync:gpuSpotVcpus": 3, "lipsync:gpuOnDemandVcpus": 0,
		},
		"lipsync:image is cuda, but none of lipsync:engines needs a network": {"lipsync:image": "cuda"},
	} {
		if _, err := stack.ParseSettings(given); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := stack.ParseSettings(map[string]any{"lipsync:gpuSpotVcpus": 0, "lipsync:gpuOnDemandVcpus": 0}); err != nil { // which nobody uses
		t.Error(err)
	}
}

// TestDomains refuses domains that AWS would refuse in the middle of a deployment.
func TestDomains(t *testing.T) {
	const there, here = "arn:aws:acm:us-east-1:123456789012:certificate/1", "arn:aws:acm:eu-west-1:123456789012:certificate/1"
	for _, c := range []struct{ domain, signIn, signInCertificate, want string }{
		{"a.example.com", "b.example.com", there, ""},
		{"a.example.com", "b.example.com", here, "lipsync:signInCertificate must be a certificate of us-east-1"},
		{"a.example.com", "a.example.com", there, "can't have the same domain"},
	} {
		_, err := stack.ParseSettings(map[string]any{
			"lipsync:domain": c.domain, "lipsync:certificate": here, "lipsync:signInDomain": c.signIn, "lipsync:signInCertificate": c.signInCertificate,
		})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

// TestInEffect checks that InEffect has the right settings as text, no matter in which form they were
// given.
func TestInEffect(t *testing.T) {
	got, err := stack.ParseSettings(map[string]any{
		"lipsync:jobTimeout": "60m", "lipsync:instanceTypes": []any{"m5.xlarge", "m6i.xlarge"}, "lipsync:alarmEmail": "",
		"lipsync:spotVcpus": 8.0, "lipsync:architecture": "x86_64", "lipsync:firstDeploy": "true",
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"lipsync:jobTimeout": "1h0m0s", "lipsync:instanceTypes": "m5.xlarge,m6i.xlarge", "lipsync:alarmEmail": "",
		"lipsync:spotVcpus": "8", "lipsync:readRate": "600", "lipsync:keepData": "true", "lipsync:image": "cpu",
	} {
		if value, ok := got.InEffect[name]; value != want || !ok {
			t.Errorf("%s: got %q, %t, want %q", name, value, ok, want)
		}
	}
	for _, passing := range []string{"lipsync:firstDeploy", "lipsync:repository", "lipsync:functions", "lipsync:architecture"} {
		if value, ok := got.InEffect[passing]; ok {
			t.Errorf("%s is %q, which is for one deployment", passing, value)
		}
	}
}

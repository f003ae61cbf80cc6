package settings

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// environment returns the values in an environment of these variables.
func environment(variables map[string]string) *Values {
	return Environment(func(name string) string { return variables[name] })
}

func TestEnvironment(t *testing.T) {
	v := environment(map[string]string{
		"LIPSYNC_TABLE": "t", "LIPSYNC_READ_RATE": "600", "LIPSYNC_MAX_VIDEO": "5368709120", "LIPSYNC_MAX_FPS": "29.97",
		"LIPSYNC_MAX_DURATION": "1h30m", "LIPSYNC_ENGINES": "wav2lip,warp", "LIPSYNC_NVIDIA_ENCODE": "true", "LIPSYNC_ISSUER": "https://example.com/pool",
	})
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"table", Table.In(v), "t"},
		{"read-rate", ReadRate.In(v), 600},
		{"max-video", MaxVideo.In(v), 5 * gibibyte},
		{"max-fps", MaxFPS.In(v), 29.97},
		{"max-duration", MaxDuration.In(v), 90 * time.Minute},
		{"engines", Engines.In(v), []string{"wav2lip", "warp"}},
		{"nvidia-encode", NVIDIAEncode.In(v), true},
		{"allow-private-networks", AllowPrivateNetworks.In(v), false},
		{"signer-role", SignerRole.In(v), ""},
		{"issuer", Issuer.In(v).Path, "/pool"},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	if err := v.Err(); err != nil {
		t.Error(err)
	}
}

// TestBadEnvironment checks that one error names all bad values.
func TestBadEnvironment(t *testing.T) {
	v := environment(map[string]string{
		"LIPSYNC_READ_RATE": "7.5", "LIPSYNC_MAX_VIDEO": "0", "LIPSYNC_MAX_FPS": "NaN", "LIPSYNC_MAX_GIGAPIXELS": "Inf", "LIPSYNC_MAX_DURATION": "90",
		"LIPSYNC_KEEP_INPUTS": "1m", "LIPSYNC_NVIDIA_ENCODE": "maybe", "LIPSYNC_ISSUER": "example.com/x", "LIPSYNC_DUTY": "plane",
	})
	got := []any{Duty.In(v), ReadRate.In(v), MaxVideo.In(v), MaxFPS.In(v), MaxGigapixels.In(v), MaxDuration.In(v), KeepInputs.In(v), NVIDIAEncode.In(v), Table.In(v)}
	if u := Issuer.In(v); u != nil {
		t.Errorf("got the issuer %s, want none", u)
	}
	for i, value := range got {
		if !reflect.ValueOf(value).IsZero() {
			t.Errorf("%d: got %v, want the zero value", i, value)
		}
	}
	want := []string{
		`LIPSYNC_DUTY is "plane", want one of small, plain, neural`,
		`LIPSYNC_READ_RATE is "7.5", want a whole number above 0`,
		`LIPSYNC_MAX_VIDEO is "0", want a size above 0, such as 5GiB, 500MiB or 1048576`,
		`LIPSYNC_MAX_FPS is "NaN", want a number above 0`,
		`LIPSYNC_MAX_GIGAPIXELS is "Inf", want a number above 0`,
		`LIPSYNC_MAX_DURATION is "90", want a time above 0, such as 90m`,
		`LIPSYNC_KEEP_INPUTS is "1m", want a time of 1h or more, such as 90m`,
		`LIPSYNC_NVIDIA_ENCODE is "maybe", want true or false`,
		`LIPSYNC_TABLE is not set`,
		`LIPSYNC_ISSUER is "example.com/x", want an address such as https://example.com`,
	}
	if err := v.Err(); err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("got\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
}

// TestContext reads values in the forms of cdk.json and of the command line.
func TestContext(t *testing.T) {
	v, err := Context(map[string]any{
		"@aws-cdk/aws-iam:minimizePolicies": true, "aws:cdk:bundling-stacks": []any{"*"}, // settings of CDK itself
		"lipsync:keepData": false, "lipsync:spotVcpus": 8.0, "lipsync:generateRate": 1e6, "lipsync:maxVideoMiB": "1024",
		"lipsync:instanceTypes": []any{"g5.2xlarge", "g6e.xlarge"}, "lipsync:maxDuration": "90m", "lipsync:nvidiaEncode": "true",
		"lipsync:maxFps": 60.0,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of         Entry
		told, kept string // for the programs of the stack, and for its next deployment
	}{
		{KeepData, "false", "false"},
		{SpotVCPUs, "8", "8"},
		{OnDemandVCPUs, "16", "16"},
		{GenerateRate, "1000000", "1000000"},
		{MaxVideo, "1073741824", "1024"},
		{MaxAudio, "524288000", "500"},
		{MaxStored, "1099511627776", "1024"},
		{MaxDuration, "1h30m0s", "1h30m0s"},
		{KeepOutputs, "168h0m0s", "168h0m0s"},
		{MaxFPS, "60", "60"},
		{NVIDIAEncode, "true", "true"},
		{InstanceTypes, "g5.2xlarge,g6e.xlarge", "g5.2xlarge,g6e.xlarge"},
		{CORSOrigins, "*", "*"},
		{AlarmEmail, "", ""},
	} {
		if told, kept := c.of.EnvValue(v), c.of.ContextValue(v); told != c.told || kept != c.kept {
			t.Errorf("%s: got %q and %q, want %q and %q", c.of.Line().Name, told, kept, c.told, c.kept)
		}
	}
}

// TestInstanceTypes checks that instances without a GPU have memory for networks only if they compute those of engines.
func TestInstanceTypes(t *testing.T) {
	for _, c := range []struct{ image, engines, want string }{
		{"cpu", "warp", withCPU}, {"cuda", "warp,wav2lip", withCPU}, {"cpu", "warp,wav2lip", withNet}, {"cpu", "musetalk", withNet},
	} {
		v, err := Context(map[string]any{"lipsync:image": c.image, "lipsync:engines": c.engines})
		if got := InstanceTypes.EnvValue(v); err != nil || got != c.want {
			t.Errorf("%s, %s: got %s (%v), want %s", c.image, c.engines, got, err, c.want)
		}
	}
}

package main

import (
	"strings"
	"testing"

	"lipsync/internal/test/awstest"
)

func TestKeysOnAWS(t *testing.T) {
	testKeys(t, "--table", awsEnvironment(t).Table(t))
}

// awsEnvironment points the program to the emulator.
func awsEnvironment(t *testing.T) *awstest.Emulator {
	e := awstest.Shared(t)
	credentials, err := e.Config().Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": e.URL, "AWS_REGION": e.Config().Region, "AWS_PROFILE": "", "AWS_CA_BUNDLE": "",
		"AWS_ACCESS_KEY_ID": credentials.AccessKeyID, "AWS_SECRET_ACCESS_KEY": credentials.SecretAccessKey,
	} {
		t.Setenv(name, value)
	}
	return e
}

func TestKeysRefused(t *testing.T) {
	awsEnvironment(t)
	for _, c := range []struct {
		name   string
		unset  string // a variable of the environment
		args   []string
		status int
		says   string
	}{
		{"two homes", "", []string{"--table", "t", "--data", "d"}, usage, "--data and --table can't be used together\nTry: lipsync keys list --help"},
		{"no table", "", []string{"--table", "nothing"}, failed, "there is no table nothing in this region and account"},
		{"no region", "AWS_REGION", []string{"--table", "t"}, failed, "no AWS region is set: try AWS_REGION"},
		{"no credentials", "AWS_ACCESS_KEY_ID", []string{"--table", "t"}, failed, "no AWS credentials are at hand: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
			t.Setenv("AWS_CONFIG_FILE", "none")
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "none")
			if c.unset != "" {
				t.Setenv(c.unset, "")
			}
			_, said, status := command(t, append([]string{"keys", "list"}, c.args...)...)
			if status != c.status || !strings.HasPrefix(said, "lipsync: "+c.says) {
				t.Errorf("got status %d, %q, want %d, %q", status, said, c.status, c.says)
			}
		})
	}
}

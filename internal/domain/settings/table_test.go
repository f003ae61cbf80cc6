package settings

import (
	"regexp"
	"strings"
	"testing"
)

// TestNames checks that the flag, the variable and the key come from the name.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		of                 Entry
		flag, env, context string
	}{
		{Data, "--data", "LIPSYNC_DATA", "lipsync:data"},
		{MaxOpenRequests, "--max-open-requests", "LIPSYNC_MAX_OPEN_REQUESTS", "lipsync:maxOpenRequests"},
		{MaxStored, "--max-stored", "LIPSYNC_MAX_STORED", "lipsync:maxStoredGiB"},
		{CORSOrigins, "--cors-origins", "LIPSYNC_CORS_ORIGINS", "lipsync:corsOrigins"},
		{NVIDIAEncode, "--nvidia-encode", "LIPSYNC_NVIDIA_ENCODE", "lipsync:nvidiaEncode"},
	} {
		line := c.of.Line()
		if line.Flag() != c.flag || line.Env() != c.env || line.Context() != c.context {
			t.Errorf("got %s, %s, %s, want %+v", line.Flag(), line.Env(), line.Context(), c)
		}
	}
}

// TestTable checks that no line of the table lacks a part.
func TestTable(t *testing.T) {
	names := map[string]bool{}
	for _, e := range table {
		line := e.Line()
		switch {
		case names[line.Name]:
			t.Errorf("there are two settings %s", line.Name)
		case !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(line.Name):
			t.Errorf("%q is no name", line.Name)
		case line.Where == 0:
			t.Errorf("%s can be set nowhere", line.Name)
		case (line.Help == "") != (line.Where&^(Functions|Passing) == 0):
			t.Errorf("%s: got the help %q; what people set has one, and nothing else", line.Name, line.Help)
		case strings.HasSuffix(line.Help, ".") || line.More != "" && !strings.HasSuffix(line.More, "."):
			t.Errorf("%s: help has no full stop, and more has one", line.Name)
		case line.Where&(Machine|Caller) != 0 && line.Example == "" && line.Default != "false":
			t.Errorf("%s has no example for its flag", line.Name)
		case line.Where&(Machine|Caller) != 0 && line.Default != "" && e.Check(line.Default) != nil:
			t.Errorf("%s: %v", line.Name, e.Check(line.Default))
		}
		names[line.Name] = true
	}
	if len(names) < 50 {
		t.Errorf("got %d settings, too few", len(names))
	}
}

func TestDefaultValue(t *testing.T) {
	if n, s := ReadRate.DefaultValue(), MaxVideo.DefaultValue(); n != 600 || s != 5*gibibyte {
		t.Errorf("got %d and %d", n, s)
	}
}

// TestCheck gives flags good and bad values, and checks the sentence for each bad value.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		of   Entry
		text string
		want string // "": the value is good
	}{
		{Workers, "0", ""},
		{Workers, "-1", "--workers must be 1 or more"},
		{Addr, "18081", "--addr must be HOST:PORT, such as 127.0.0.1:8080"},
		{Addr, "", "--addr must be HOST:PORT, such as 127.0.0.1:8080"}, // net.Listen would listen on all interfaces
		{MetricsAddr, "", ""},
		{MetricsAddr, "9090", "--metrics-addr must be HOST:PORT, such as 127.0.0.1:9090"},
		{ReadRate, "0", "--read-rate must be 1 or more"},
		{MaxSide, "0", "--max-side must be more than 0"},
		{MaxSide, "10000", ""},
		{MaxFPS, "29.97", ""},
		{MaxFPS, "0", "--max-fps must be more than 0"},
		{MaxStored, "0", "--max-stored must be a size above 0, such as 5GiB, 500MiB or 1048576"},
		{DiskReserve, "1GB", "--disk-reserve must be a size such as 5GiB, 500MiB or 1048576"},
		{MaxDuration, "5", "--max-duration must be a time above 0, such as 90m"},
		{Workers, "abc", "--workers must be 1 or more"},
		{NVIDIAEncode, "yes", ""},
		{NVIDIAEncode, "maybe", "--nvidia-encode must be true or false"},
		{DiskReserve, "0", ""},
		{KeepInputs, "59m0s", "--keep-inputs must be 1h or more"},
		{CORSOrigins, "https://a.example,*", ""},
		{CORSOrigins, "https://a.example/", "--cors-origins must be * or http://HOST or https://HOST, with a port or none, and no path"},
		{CORSOrigins, "a.example", "--cors-origins must be * or http://HOST or https://HOST, with a port or none, and no path"},
		{PublicURL, "https://a.example:8443/", ""},
		{PublicURL, "https://a.example/lipsync", "--public-url must be http://HOST or https://HOST, with a port or none, and no path"},
		{ServiceURL, "https://a.example:8443/api/", ""},
		{ServiceURL, "http://127.0.0.1:8080", ""},
		{ServiceURL, "https://a.example/v1", "--url must be http://HOST or https://HOST, with a port or none, and no path except /api/v1"},
		{ServiceURL, "https://a.example/api/v1/", ""},
		{ServiceURL, "a.example:8443/api", ""},
		{ServiceURL, "ftp://a.example", "--url must be http://HOST or https://HOST, with a port or none, and no path except /api/v1"},
		{PublicURL, "https://me@a.example", "--public-url must be http://HOST or https://HOST, with a port or none, and no path"},
	} {
		got := ""
		if err := c.of.Check(c.text); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.of.Line().Name, c.text, got, c.want)
		}
	}
}

// TestServiceURL checks the addresses of services that people write.
func TestServiceURL(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1:8871": "http://127.0.0.1:8871", "localhost:1/api/v1": "http://localhost:1", "[::1]:1": "http://[::1]:1",
		"lipsync.example.com": "https://lipsync.example.com", "http://a.example/api/v1/": "http://a.example", "https://a.example": "https://a.example",
	} {
		if got := ServiceURL.Value(text).String(); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

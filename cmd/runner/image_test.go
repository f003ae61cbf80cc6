package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lipsync/internal/test/ffmpegtest"
)

// These tests check the image on a machine that can't build images. They run its steps, except the
// installation of packages.

// step runs one step of the image's script.
func step(t *testing.T, path string, args ...string) (out string, err error) {
	t.Helper()
	c := exec.Command("sh", append([]string{"image.sh"}, args...)...)
	c.Env = []string{"PATH=" + path}
	b, err := c.CombinedOutput()
	return string(b), err
}

func TestImageCheck(t *testing.T) {
	path := ffmpegtest.InstalledPath() // the image has Debian's
	real := ffmpegtest.Installed("ffmpeg")
	for _, c := range []struct{ check, without, want string }{
		{"check", "tonemap", "ffmpeg has no tonemap among its filters\n"},
		{"check-nvidia", "h264_nvenc", "ffmpeg has no h264_nvenc among its encoders\n"},
		{"check-nvidia", "cuda", "ffmpeg has no cuda among its hwaccels\n"},
	} {
		if out, err := step(t, path, c.check); err != nil {
			t.Errorf("%s: %v: %s", c.check, err, out)
		}
		poor := t.TempDir()
		script := "#!/bin/sh\n" + real + ` "$@" | grep -v ` + c.without + "\n"
		if err := os.WriteFile(filepath.Join(poor, "ffmpeg"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		out, err := step(t, poor+":"+path, c.check)
		if err == nil || out != c.want {
			t.Errorf("%s with a poor ffmpeg: got %v and %q, want %q", c.check, err, out, c.want)
		}
	}
}

func TestImageUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the step changes an owner: run as root")
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := step(t, os.Getenv("PATH"), "user", root); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	passwd, err := os.ReadFile(filepath.Join(root, "etc", "passwd"))
	if want := "lipsync:x:65532:65532::/scratch:/usr/sbin/nologin\n"; err != nil || string(passwd) != want {
		t.Errorf("passwd: got %q (%v), want %q", passwd, err, want)
	}
	if out, err := exec.Command("stat", "-c", "%u:%g %a", filepath.Join(root, "scratch")).Output(); err != nil || string(out) != "65532:65532 700\n" {
		t.Errorf("scratch: got %s (%v)", out, err)
	}
}

// TestDockerfile checks that bases have an exact tag and a digest, that the image does not run as
// root, and that it uses the script's steps.
func TestDockerfile(t *testing.T) {
	b, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if bases := regexp.MustCompile(`(?m)^ARG [A-Z]+=\S+:\S*\d+\.\d+\S*@sha256:[0-9a-f]{64}$`).FindAllString(text, -1); len(bases) != 2 {
		t.Errorf("got bases %q, want 2 with exact tags and digests", bases)
	}
	stages := make(map[string]bool)
	for _, from := range regexp.MustCompile(`(?m)^FROM (?:--platform=\$BUILDPLATFORM )?(\S+) AS (\S+)$`).FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(from[1], "${") && !stages[strings.ReplaceAll(from[1], "${SIGNER}", "c2patool")] {
			t.Errorf("stage %s from %s, want one of the bases or a stage before", from[2], from[1])
		}
		stages[from[2]] = true
	}
	if !stages["signer-none"] || !strings.Contains(text, "\nARG SIGNER=none\n") {
		t.Error("the image has a program that signs, unless the build leaves it out")
	}
	for _, line := range []string{
		"COPY --from=onnxruntime /onnxruntime/ /usr/local/lib/",
		"COPY --from=onnxruntime-gpu /onnxruntime/ /usr/local/lib/",
		"COPY --from=cuda-libraries /cuda/ /usr/local/lib/cuda/",
	} {
		if n := strings.Count(text, "\n"+line+"\n"); n != 1 {
			t.Errorf("got %d lines %q, want 1", n, line)
		}
	}
	for _, line := range []string{"FROM --platform=$BUILDPLATFORM ${GO} AS build", "FROM --platform=$BUILDPLATFORM ${GO} AS signer-c2patool",
		`RUN /.ci/c2patool "$(/.ci/cross "$BUILDARCH" "$TARGETARCH" processor)" /signer`, "FROM base AS function", `ENTRYPOINT ["/usr/local/bin/runner", "function"]`, "FROM signer-${SIGNER} AS signer", "COPY --from=signer /signer/ /usr/local/bin/", `RUN [ "$SIGNER" = none ] || "$SIGNER" --version`, "USER 65532:65532", "RUN sh /image.sh packages && sh /image.sh user && sh /image.sh check", "RUN sh /image.sh check-nvidia"} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
}

// TestImageArchive runs the script with an apt that finds the packages only in Debian's archive of
// snapshots.
func TestImageArchive(t *testing.T) {
	script, err := os.ReadFile("image.sh")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, dir := range []string{"bin", "etc/apt/sources.list.d", "var/lib/apt/lists"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	apt := "#!/bin/sh\n[ \"$1\" = update ] || grep -q snapshot.debian.org " + root + "/etc/apt/sources.list\n"
	here := strings.NewReplacer("/etc/apt", root+"/etc/apt", "/var/lib/apt", root+"/var/lib/apt").Replace(string(script))
	for name, content := range map[string]string{"bin/apt-get": apt, "image.sh": here, "etc/apt/sources.list": "deb http://deb.debian.org/debian bookworm main\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("sh", filepath.Join(root, "image.sh"), "packages")
	c.Env = []string{"PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH")}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sources, err := os.ReadFile(filepath.Join(root, "etc/apt/sources.list"))
	for _, want := range []string{"/debian/20", "/debian-security/20", " bookworm-security main\n"} {
		if err != nil || !strings.Contains(string(sources), want) {
			t.Errorf("got the sources %s (%v), want %q in them", sources, err, want)
		}
	}
}

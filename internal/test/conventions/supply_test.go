package conventions

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lipsync/internal/test/sharedtest"
)

// tracked returns the paths of the files that git tracks and that match a pattern, relative to the
// repository's root. It fails the test if there are none.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	c := exec.Command("git", append([]string{"ls-files", "--"}, patterns...)...)
	c.Dir = sharedtest.Root(t)
	out, err := c.Output()
	paths := strings.Fields(string(out))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%v: got %v, %v, want files", patterns, paths, err)
	}
	return paths
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(sharedtest.Root(t), path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	comments    = regexp.MustCompile(`(?m)^\s*(#.*)?\n`)
	requirement = regexp.MustCompile(`^([\w.-]+)==\S+( ; .*)?( --hash=sha256:[0-9a-f]{64})+$`)
	extras      = regexp.MustCompile(`\[[\w,]+\]`) // pins of a package's extras are lines of their own
	installs    = regexp.MustCompile(`\bpip[3"']? (install|download)\b`)
)

// TestPythonPackages checks that each package to install has its digests: the requested packages,
// and those that they need.
func TestPythonPackages(t *testing.T) {
	for _, path := range tracked(t, "*requirements*.txt") {
		pinned := strings.ReplaceAll(comments.ReplaceAllString(text(t, path), ""), " \\\n    ", " ")
		for line := range strings.Lines(pinned) {
			if !requirement.MatchString(strings.TrimSpace(line)) {
				t.Errorf("%s: got %.80q, want a version and its digests", path, line)
			}
		}
		wanted := strings.TrimSuffix(path, ".txt") + ".in"
		for line := range strings.Lines(comments.ReplaceAllString(text(t, wanted), "")) {
			line = extras.ReplaceAllString(strings.TrimSpace(line), "")
			if strings.Contains(line, "==") && !strings.Contains(pinned, line+" ") {
				t.Errorf("%s has no %s, which %s asks for: run make pins", path, line, wanted)
			}
		}
	}
	for _, path := range tracked(t, "Makefile", ".ci/*") {
		commands := strings.ReplaceAll(text(t, path), "\\\n", "")
		for line := range strings.Lines(commands) {
			if installs.MatchString(line) && !strings.Contains(line, "--require-hashes") {
				t.Errorf("%s: got %q, want it to require digests", path, strings.TrimSpace(line))
			}
		}
	}
}

// TestNodePackages checks that the packages of npm have digests.
func TestNodePackages(t *testing.T) {
	for _, file := range tracked(t, ".ci/*/package-lock.json") {
		var lock struct {
			Packages map[string]struct{ Version, Integrity string }
		}
		if err := json.Unmarshal([]byte(text(t, file)), &lock); err != nil {
			t.Fatal(err)
		}
		if len(lock.Packages) < 3 {
			t.Errorf("%s: got packages %v", file, lock.Packages)
		}
		for name, p := range lock.Packages {
			if name != "" && !strings.HasPrefix(p.Integrity, "sha512-") {
				t.Errorf("%s: %s: got digest %q, want one", file, name, p.Integrity)
			}
		}
	}
	for line := range strings.Lines(text(t, "Makefile")) {
		if regexp.MustCompile(`\bnpx\b|npm install (--|\w)`).MatchString(line) && !strings.Contains(line, "--package-lock-only") {
			t.Errorf("Makefile: got %q, want npm ci, which checks digests", strings.TrimSpace(line))
		}
	}
}

// TestTorch checks that the exporter reads untrusted checkpoints with a PyTorch that runs no code
// from them. Version 2.5 does in spite of weights_only (CVE-2025-32434), and so do versions before
// 2.10 (CVE-2026-24747).
func TestTorch(t *testing.T) {
	for _, path := range tracked(t, "*requirements*.in", "*requirements*.txt") {
		for _, version := range regexp.MustCompile(`(?m)^torch==(\d+)\.(\d+)\.`).FindAllStringSubmatch(text(t, path), -1) {
			if version[1] != "2" || len(version[2]) < 2 {
				t.Errorf("%s: got %s, want 2.10 or later", path, version[0])
			}
		}
	}
}

// TestVulnerabilities checks that .ci/vulnerabilities tells known vulnerabilities from a database
// that is out of reach, by govulncheck's messages and exit status.
func TestVulnerabilities(t *testing.T) {
	for name, c := range map[string]struct {
		govulncheck, says string
		status            int
	}{
		"none":         {"echo 'No vulnerabilities found.'", "No vulnerabilities found.", 0},
		"found":        {"echo 'Vulnerability #1: GO-2026-0001'; exit 3", "vulnerabilities were found", 1},
		"out of reach": {`echo 'govulncheck: fetching vulnerabilities: Get "https://…": dial tcp: no such host' >&2; exit 1`, "out of reach", 0},
		"broken code":  {"echo 'govulncheck: loading packages: ' >&2; exit 1", "failed with status 1", 2},
	} {
		program := filepath.Join(t.TempDir(), "govulncheck")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+c.govulncheck+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(filepath.Join(sharedtest.Root(t), ".ci", "vulnerabilities"), program).CombinedOutput()
		status := 0
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			status = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if status != c.status || !strings.Contains(string(out), c.says) {
			t.Errorf("%s: got status %d and %q, want %d and %q", name, status, out, c.status, c.says)
		}
	}
}

// TestReleaseOfTag checks that .ci/release makes a release of the commit with the tag of its
// version only, and a trial of any tree.
func TestReleaseOfTag(t *testing.T) {
	const started = 9
	stubs, clone := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(stubs, "x86_64-linux-gnu-gcc"), "#!/bin/sh\n")
	write(filepath.Join(stubs, "go"), fmt.Sprintf("#!/bin/sh\nexit %d\n", started))
	for _, path := range []string{".ci/release", ".ci/onnxruntime"} {
		write(filepath.Join(clone, path), text(t, path))
	}
	changelog := filepath.Join(clone, "CHANGELOG.md")
	write(changelog, "## [1.2.3] - 2026-01-02\n")
	command := func(name string, args ...string) (string, int) {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = clone
		c.Env = append(os.Environ(), "PATH="+stubs+":"+os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(clone))
		out, err := c.CombinedOutput()
		if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
			t.Fatal(err)
		}
		return string(out), c.ProcessState.ExitCode()
	}
	git := func(args ...string) {
		t.Helper()
		if out, status := command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...); status != 0 {
			t.Fatalf("git %q: %s", args, out)
		}
	}
	check := func(says string, status int, options ...string) {
		t.Helper()
		out, got := command(".ci/release", append(options, t.TempDir(), t.TempDir(), "example.com/nfpm@v1.0.0")...)
		if got != status || !strings.Contains(out, says) {
			t.Errorf("got status %d and %q, want %d and %q", got, out, status, says)
		}
	}

	check("git can't tell which commit", 1)
	git("init", "--quiet")
	git("add", ".")
	git("commit", "--quiet", "--message", "One")
	check("there is no tag v1.2.3", 1)
	git("tag", "--annotate", "--message", "1.2.3", "v1.2.3")
	check("", started)
	write(filepath.Join(clone, "new.go"), "package main\n")
	check("files differ from the commit", 1)
	check("", started, "--trial")
	git("add", ".")
	git("commit", "--quiet", "--message", "Two")
	check("not that of the tag v1.2.3", 1)
	check("", started, "--trial")
}

// TestLinted checks that continuous integration runs the linters.
func TestLinted(t *testing.T) {
	if got := text(t, ".ci/run"); !strings.Contains(got, "\nmake lint\n") {
		t.Errorf("got %s, want make lint", got)
	}
	if got := text(t, ".ci/run"); !strings.Contains(got, "\nmake release-check\n") {
		t.Errorf("got %s, want make release-check", got)
	}
	if got := text(t, "staticcheck.conf"); !strings.Contains(got, "\nchecks = [\"all\"]\n") {
		t.Errorf("got staticcheck.conf %s, want all checks", got)
	}
	for _, check := range []string{"gofmt -l", "/vet\" ./...", "/staticcheck\" $checked", "go mod tidy", "/vulnerabilities"} {
		if !strings.Contains(text(t, ".ci/lint"), check) {
			t.Errorf(".ci/lint does not run %s", check)
		}
	}
}

package conventions

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"lipsync/internal/domain/settings"
	"lipsync/internal/domain/version"
)

// TestCompose checks that compose.yaml names the image that .ci/image makes, and settings that exist.
func TestCompose(t *testing.T) {
	var file struct {
		Services map[string]struct {
			Image, Command string
			Environment    map[string]string
			Healthcheck    struct{ Test []string }
		}
	}
	if err := yaml.Unmarshal([]byte(text(t, "packaging/compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	own, image := file.Services["lipsync"], text(t, ".ci/image")
	for _, want := range []string{`docker.io/library/lipsync:{version}"`, `lipsync-{version}-image.tar"`, `"LIPSYNC_ADDR": ":8080"`, `"Entrypoint": ["/usr/bin/lipsync"]`} {
		if !strings.Contains(image, want) {
			t.Errorf(".ci/image has no %s", want)
		}
	}
	if want := "lipsync:${LIPSYNC_VERSION:-" + version.Number + "}"; own.Image != want {
		t.Errorf("got the image %s, want %s", own.Image, want)
	}
	if !strings.HasSuffix(file.Services["caddy"].Command, " --to lipsync:8080") || !slices.Equal(own.Healthcheck.Test, []string{"CMD", "lipsync", "health"}) {
		t.Errorf("got %+v, want the port and the health check of the image", file)
	}
	rows := map[string]settings.Entry{}
	for _, e := range settings.At(settings.Machine) {
		rows[e.Line().Env()] = e
	}
	for name, value := range own.Environment {
		if e := rows[name]; e == nil {
			t.Errorf("%s is no setting", name)
		} else if err := e.Check(strings.ReplaceAll(value, "${HOST:?the host name of the service}", "lips.example")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range regexp.MustCompile(`LIPSYNC_[A-Z_]+`).FindAllString(image, -1) {
		if rows[name] == nil {
			t.Errorf(".ci/image: %s is no setting", name)
		}
	}
}

// TestReleaseNamed checks that pages name a release's files by the version of today.
func TestReleaseNamed(t *testing.T) {
	for _, path := range []string{"docs/operations.md", "packaging/compose.yaml"} {
		all := regexp.MustCompile(`lipsync[-_:](?:\$\{LIPSYNC_VERSION:-)?([0-9]+\.[0-9]+\.[0-9]+)`).FindAllStringSubmatch(text(t, path), -1)
		if len(all) == 0 {
			t.Errorf("%s names no file of a release", path)
		}
		for _, found := range all {
			if found[1] != version.Number {
				t.Errorf("%s: got %s, want the version %s", path, found[0], version.Number)
			}
		}
	}
}

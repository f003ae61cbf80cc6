package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// completers are, for each shell, a program that has the script of its first argument complete the line of the others, and prints the words.
var completers = map[string]string{
	"bash": `. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _lipsync; echo "${COMPREPLY[*]}"`,
	// zsh calls the script as a function of the name at the first use, and its own functions for words and files.
	"zsh": `compadd() { shift; print -r -- ${(M)@:#${words[CURRENT]}*} }; _files() { print files }; compdef() { }
fpath=("${1%/*}" $fpath); autoload -Uz _lipsync; shift; words=("$@"); CURRENT=$#; _lipsync`,
	"fish": `source $argv[1]; complete -C "$argv[2..]" | string replace -r '\t.*' '' | string join ' '; true`,
}

// TestCompletion has shells complete calls by their scripts.
func TestCompletion(t *testing.T) {
	for shell, program := range completers {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil && shell != "bash" {
				t.Skip(err)
			}
			script, _, status := command(t, "completion", shell)
			file := filepath.Join(t.TempDir(), "_lipsync")
			if err := os.WriteFile(file, []byte(script), 0o600); err != nil || status != ok {
				t.Fatalf("got status %d, %v", status, err)
			}
			for line, want := range map[string][]string{
				"lipsync ke":                   {"keys"},
				"lipsync keys ":                {"create", "list", "revoke"},
				"lipsync sync --sync-mode ":    {"bounce", "cut_off", "loop", "remap", "silence"},
				"lipsync sync a b --original-": {"--original-gain"},
				"lipsync requests list --fa":   {"--failed"},
				"lipsync completion ":          {"bash", "fish", "zsh"},
			} {
				before := []string{"-c", program, shell, file}
				switch shell {
				case "zsh":
					before = append([]string{"-f"}, before...)
				case "fish":
					before = []string{"-N", "-c", program, file}
				}
				got, err := exec.CommandContext(t.Context(), shell, append(before, strings.Split(line, " ")...)...).CombinedOutput()
				words := strings.Fields(string(got))
				slices.Sort(words)
				if err != nil || !slices.Equal(words, want) {
					t.Errorf("%q: got %q (%v), want %q", line, got, err, want)
				}
			}
		})
	}
	if _, said, status := command(t, "completion", "csh"); status != usage || !strings.Contains(said, "bash") {
		t.Errorf("got status %d, %q, want the shells", status, said)
	}
}

// TestManual checks the manual page, that the page on operations names each command, and that the help of a command has its examples.
func TestManual(t *testing.T) {
	page, _, status := command(t, "man")
	for _, want := range []string{".TH LIPSYNC 1", ".SS lipsync requests list", `\-\-sync\-mode`, ".B LIPSYNC_MAX_VIDEO"} {
		if status != ok || !strings.Contains(page, want) {
			t.Errorf("got status %d, and no %q", status, want)
		}
	}
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Command line\n")
	_, table, _ = strings.Cut(table, "\n| ")
	table, _, _ = strings.Cut(table, "\n\n")
	for command := range examples {
		if !regexp.MustCompile("`(lipsync )?" + command + "[` ]").MatchString(table) {
			t.Errorf("the table of commands in docs/operations.md has no %s", command)
		}
		if !strings.Contains(page, ".SS lipsync "+strings.ReplaceAll(command, "-", `\-`)+"\n") {
			t.Errorf("the page has no command %s", command)
		}
	}
	if help, _, _ := command(t, "sync", "--help"); !strings.Contains(help, "lipsync sync talk.mp4 speech.wav\n") {
		t.Errorf("got %s, want an example", help)
	}
}

// TestServeCheck checks settings without serving.
func TestServeCheck(t *testing.T) {
	t.Setenv("LIPSYNC_MAX_FPS", "50")
	data := filepath.Join(t.TempDir(), "data")
	check := func() (stdout, said string, status int) {
		return command(t, "serve", "--check", "--data", data, "--max-side", "720")
	}
	unset(t)
	stdout, said, status := check()
	for _, want := range []string{"--data " + data + "\n", "--max-side 720\n", "LIPSYNC_MAX_FPS 50\n", "engines   [warp", "ffmpeg    works"} {
		if status != ok || !strings.Contains(stdout, want) {
			t.Errorf("got status %d, %s%s, want %q", status, stdout, said, want)
		}
	}
	var list []checked
	stdout, _, status = command(t, "serve", "--check", "--json", "--data", data)
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || status != ok || len(list) != 5 || list[0] != (checked{What: "setting", Good: "--data " + data}) {
		t.Errorf("got status %d, %s (%v), want two settings and three checks", status, stdout, err)
	}
	if _, said, status := command(t, "serve", "--json", "--data", data); status != usage || !strings.Contains(said, "--json needs --check") {
		t.Errorf("got status %d, %s, want a refusal", status, said)
	}
	t.Setenv("LIPSYNC_MAX_VIDO", "1")
	if stdout, _, status := check(); status != failed || !strings.Contains(stdout, "LIPSYNC_MAX_VIDO is no setting: did you mean LIPSYNC_MAX_VIDEO?") {
		t.Errorf("got status %d, %s, want the misspelt variable named", status, stdout)
	}
}

// unset removes the variables of the tests themselves, which are no settings.
func unset(t *testing.T) {
	t.Helper()
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "LIPSYNC_") && name != "LIPSYNC_MAX_FPS" {
			t.Setenv(name, value) // which puts it back at the end
			os.Unsetenv(name)
		}
	}
}

// post makes a call with a JSON body, and returns the status of the answer.
func post(t *testing.T, url, key, body string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("x-api-key", key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// TestListRequests lists the requests of two accounts.
func TestListRequests(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	for _, account := range []string{"default", "bob"} {
		key, _, _ := command(t, "keys", "create", "--data", data, "--name", "k", "--account", account)
		body := `{"inputs":[{"type":"video","url":"https://missing.invalid/v.mp4"},{"type":"audio","url":"https://missing.invalid/a.wav"}],"reference_id":"of ` + account + `"}`
		if answer := post(t, s.url+"/api/v1/lipsync/generate", strings.TrimSpace(key), body); answer != http.StatusOK {
			t.Fatalf("got %d", answer)
		}
	}
	for args, want := range map[string][2]string{ // what is in the list, and what isn't
		"":                        {"of default", "of bob"},
		"--account bob":           {"of bob", "of default"},
		"--all-accounts":          {"of bob", "[]"},
		"--all-accounts --failed": {"of bob", "[]"},
		"--json --account bob":    {`"reference_id": "of bob"`, "CREATED"},
	} {
		got, said, status := command(t, append([]string{"requests", "list", "--data", data}, strings.Fields(args)...)...)
		if status != ok || !strings.Contains(got, want[0]) || strings.Contains(got, want[1]) {
			t.Errorf("%s: got status %d, %s%s, want %q and no %q", args, status, got, said, want[0], want[1])
		}
	}
}

// Package templatetests holds the promises of the CDK app that no emulator
// keeps: what the synthesised template says, in full where it is about rights.
package templatetests

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"lipsync/infra/stack"
)

// template is what CloudFormation gets. Names have no hash at their end, and
// references are texts: "Table" is a Ref, "Table.Arn" a GetAtt. What is written
// as base64 when deployed is plain text.
type template struct {
	path      string // of its file, beside that of cdk-nag's report
	Resources map[string]resource
	Outputs   map[string]map[string]any
}

type resource struct {
	Type                                string
	Properties                          map[string]any
	DeletionPolicy, UpdateReplacePolicy string
}

// work has the files of all syntheses, until the tests end.
var work string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if _, err := exec.LookPath("node"); err != nil {
			fmt.Fprintln(os.Stderr, "CDK needs Node.js, which is not there: make test installs it")
			return 1
		}
		var err error
		if work, err = os.MkdirTemp("", "template-tests-"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(work)
		defer jsii.Close()
		deployed() // here, since only here what was deferred is done after a panic
		other()
		return m.Run()
	}())
}

// deployed is the template of the settings that an operator who sets nothing has.
var deployed = sync.OnceValue(func() template { return synth("deployed", nil) })

// other is that of settings which differ where the template does.
var other = sync.OnceValue(func() template {
	return synth("other", map[string]any{
		"lipsync:name": "Trial", "lipsync:keepData": false, "lipsync:image": "cpu", "lipsync:spotVcpus": 0,
		"lipsync:maxVideoMiB": 1024, "lipsync:jobTimeout": "1h", "lipsync:logDays": 7,
		"lipsync:alarmEmail": "operator@example.com", "lipsync:corsOrigins": "https://a.example,https://b.example",
		"lipsync:architecture": "x86_64", "lipsync:requestRate": 50,
	})
})

// synth synthesises with empty functions: what they do is not in the template.
func synth(name string, settings map[string]any) template {
	folder := filepath.Join(work, name)
	functions := filepath.Join(folder, "functions")
	for _, f := range functionNames() {
		must(os.MkdirAll(filepath.Join(functions, f), 0o755))
		must(os.WriteFile(filepath.Join(functions, f, "bootstrap"), []byte(f), 0o755))
	}
	text, err := os.ReadFile("../infra/cdk.json")
	must(err)
	var cdk struct{ Context map[string]any }
	must(json.Unmarshal(text, &cdk))
	maps.Copy(cdk.Context, settings)
	cdk.Context["lipsync:functions"] = functions
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(filepath.Join(folder, "cdk.out")), Context: &cdk.Context})
	s, err := stack.ReadSettings(app)
	must(err)
	stack.New(app, s)
	app.Synth(nil)
	return load(filepath.Join(folder, "cdk.out", s.Name+".template.json"))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func load(path string) template {
	text, err := os.ReadFile(path)
	must(err)
	var tree map[string]any
	must(json.Unmarshal(text, &tree))
	resources := tree["Resources"].(map[string]any)
	named := map[string]any{}
	for id, r := range resources {
		named[plain(id)] = r
	}
	if len(named) != len(resources) {
		panic("two resources differ in the hash of their names alone")
	}
	tree["Resources"] = named
	text, err = json.Marshal(readable(tree))
	must(err)
	t := template{path: path}
	must(json.Unmarshal(text, &t))
	return t
}

var hash = regexp.MustCompile(`[0-9A-F]{8}$|[0-9A-F]{8}[0-9a-f]{32}$`)

func plain(id string) string { return hash.ReplaceAllString(id, "") }

// readable replaces CloudFormation's functions by texts.
func readable(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = readable(v[i])
		}
	case map[string]any:
		if len(v) == 1 {
			for f, argument := range v {
				if text, ok := call(f, argument); ok {
					return text
				}
			}
		}
		for k := range v {
			v[k] = readable(v[k])
		}
	}
	return v
}

func call(function string, argument any) (string, bool) {
	switch function {
	case "Ref":
		return plain(argument.(string)), true
	case "Fn::GetAtt":
		pair := argument.([]any)
		return plain(pair[0].(string)) + "." + pair[1].(string), true
	case "Fn::Join":
		pair := argument.([]any)
		var words []string
		for _, w := range readable(pair[1]).([]any) {
			words = append(words, w.(string))
		}
		return strings.Join(words, pair[0].(string)), true
	case "Fn::Base64":
		text, ok := readable(argument).(string)
		return text, ok
	case "Fn::Sub":
		return argument.(string), true
	default:
		return "", false
	}
}

// all returns the names of the resources of a type, sorted.
func (t template) all(kind string) []string {
	var names []string
	for name, r := range t.Resources {
		if r.Type == kind {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// get returns a property by its path, as JSON: "ContainerProperties.User",
// "Rules.0.Id". What isn't there is "".
func (t template) get(name, path string) string {
	r, ok := t.Resources[name]
	if !ok {
		return "no resource " + name
	}
	var v any = r.Properties
	for _, step := range strings.Split(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[step]
		case []any:
			if i, err := strconv.Atoi(step); err != nil || i >= len(at) {
				return ""
			} else {
				v = at[i]
			}
		}
	}
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	must(err)
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}

// number returns a property that is one.
func (t template) number(name, path string) int {
	n, err := strconv.Atoi(t.get(name, path))
	if err != nil {
		panic(fmt.Sprintf("%s of %s is no whole number: %v", path, name, err))
	}
	return n
}

// property is one that a template must have.
type property struct{ resource, path, want string }

func (t template) check(tt *testing.T, properties []property) {
	tt.Helper()
	for _, p := range properties {
		if got := t.get(p.resource, p.path); got != p.want {
			tt.Errorf("%s of %s: got %s, want %s", p.path, p.resource, got, p.want)
		}
	}
}

func wantNames(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// functionNames are the folders of functions/.
func functionNames() []string {
	folders, err := filepath.Glob("../functions/*/main.go")
	must(err)
	var names []string
	for _, f := range folders {
		names = append(names, filepath.Base(filepath.Dir(f)))
	}
	return names
}

// logical is a function's name in the template.
func logical(function string) string {
	var id strings.Builder
	for word := range strings.SplitSeq(function, "-") {
		id.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return id.String()
}

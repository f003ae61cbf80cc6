// Package templatetests tests those parts of the CDK app that no emulator can test: the contents of
// the synthesised template. It compares all rights.
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

	"lipsync/internal/domain/settings"
)

// template is the template that CloudFormation gets, in a readable form. Names have no hash at their
// end. References are strings: "Table" is a Ref, "Table.Arn" a GetAtt. Text that is in base64 when it
// is deployed is plain here.
type template struct {
	path      string            // of its file, next to the report of cdk-nag
	types     map[string]string // of resources, by their names with the hash
	Resources map[string]resource
	Outputs   map[string]map[string]any
	Metadata  map[string]any

	Parameters map[string]map[string]any
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
			fmt.Fprintln(os.Stderr, "CDK needs Node.js, which is not installed: make test installs it")
			return 1
		}
		var err error
		if work, err = os.MkdirTemp("", "template-tests-"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(work)
		defer jsii.Close()
		deployed() // here, so that deferred calls run even after a panic
		other()
		unmade()
		none()
		return m.Run()
	}())
}

// deployed returns the template with the default settings, except that events go to a bus: so it has each function.
var deployed = sync.OnceValue(func() template { return synth("deployed", map[string]any{"lipsync:eventBus": "main"}) })

// other returns the template with all the settings that change it.
var other = sync.OnceValue(func() template {
	return synth("other", map[string]any{
		"lipsync:name": "Trial", "lipsync:keepData": false, "lipsync:image": "cuda", "lipsync:engines": "warp,wav2lip", "lipsync:nvidiaEncode": true, "lipsync:spotVcpus": 0, "lipsync:gpuOnDemandVcpus": 8, "lipsync:zones": 2, "lipsync:zoneNames": "us-east-1f,us-east-1d",
		"lipsync:lambdaQuota": 1000, "lipsync:monthlyBudget": 200,
		"lipsync:maxVideoMiB": 1024, "lipsync:jobTimeout": "1h", "lipsync:logDays": 7,
		"lipsync:eventBus": otherBus, "lipsync:alarmEmail": "operator@example.com", "lipsync:corsOrigins": "https://a.example,https://b.example",
		"lipsync:architecture": "x86_64", "lipsync:requestRate": 50, "lipsync:addressRate": 3000, "lipsync:healthCheck": true, "lipsync:selfSignUp": true,
		"lipsync:keepInputs": "49h", "lipsync:keepOutputs": "48h", "lipsync:keepRecords": "72h",
		"lipsync:domain": "lipsync.example.com", "lipsync:certificate": certificate,
		"lipsync:signInDomain": "auth.example.com", "lipsync:signInCertificate": signInCertificate,
		"lipsync:provenanceSecret": "lipsync/signer", "lipsync:requireProvenance": true,
	})
})

// unmade returns the template for a stack that does not exist yet, as make deploy creates it.
var unmade = sync.OnceValue(func() template { return synth("unmade", map[string]any{"lipsync:firstDeploy": true}) })

// none returns the template without the function of small requests.
var none = sync.OnceValue(func() template { return synth("none", map[string]any{"lipsync:smallWorkers": 0}) })

// synth synthesises with empty functions, since their code is not in the template.
func synth(name string, decided map[string]any) template {
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
	maps.Copy(cdk.Context, decided)
	cdk.Context["lipsync:functions"] = functions
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(filepath.Join(folder, "cdk.out")), Context: &cdk.Context})
	s, err := stack.ReadSettings(app)
	must(err)
	stack.New(app, s)
	app.Synth(nil)
	return load(filepath.Join(folder, "cdk.out", settings.Name.In(s.Values)+".template.json"))
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
	named, types := map[string]any{}, map[string]string{}
	for id, r := range resources {
		named[plain(id)] = r
		types[id] = r.(map[string]any)["Type"].(string)
	}
	if len(named) != len(resources) {
		panic("two resources differ only in the hash of their names")
	}
	tree["Resources"] = named
	text, err = json.Marshal(readable(tree))
	must(err)
	t := template{path: path, types: types}
	must(json.Unmarshal(text, &t))
	return t
}

var hash = regexp.MustCompile(`[0-9A-F]{8}$|[0-9A-F]{8}[0-9a-f]{32}$`)

func plain(id string) string { return hash.ReplaceAllString(id, "") }

// readable replaces CloudFormation's functions by strings.
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
	case "Fn::Select":
		pair := argument.([]any)
		text, ok := readable(pair[1]).(string)
		return fmt.Sprintf("%s part %v", text, pair[0]), ok
	case "Fn::Split":
		pair := argument.([]any)
		text, ok := readable(pair[1]).(string)
		return text, ok
	case "Fn::GetAZs":
		text, ok := argument.(string)
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

// get returns a property by its path, as JSON. A path is such as "ContainerProperties.User",
// "Rules.0.Id", or "Rules.#" for the number of rules. It returns "" for a missing property.
func (t template) get(name, path string) string {
	r, ok := t.Resources[name]
	if !ok {
		return "no resource " + name
	}
	var v any = r.Properties
	for step := range strings.SplitSeq(path, ".") {
		v = within(v, step)
	}
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	must(err) // it was JSON
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}

// within returns a value's member by its name or index.
func within(v any, step string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[step]
	case []any:
		if step == "#" {
			return len(v)
		}
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

// read reads a property into v. v stays unchanged if there is none.
func (t template) read(tt *testing.T, name, path string, v any) {
	tt.Helper()
	text := t.get(name, path)
	if text == "" {
		return
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		tt.Fatalf("%s of %s: got %s: %v", path, name, text, err)
	}
}

// number returns a property that is a whole number.
func (t template) number(tt *testing.T, name, path string) int {
	tt.Helper()
	n, err := strconv.Atoi(t.get(name, path))
	if err != nil {
		tt.Fatalf("%s of %s: got %q, want a whole number", path, name, t.get(name, path))
	}
	return n
}

func TestGet(t *testing.T) {
	tmpl := template{Resources: map[string]resource{"It": {Properties: map[string]any{
		"List": []any{map[string]any{"Size": 5.0}}, "Text": "a<b",
	}}}}
	for path, want := range map[string]string{
		"List.0.Size": "5", "List.#": "1", "Text": `"a<b"`, "List": `[{"Size":5}]`,
		"None": "", "None.Size": "", "List.1": "", "List.-1": "", "List.Size": "", "List.0.Size.More": "", "Text.0": "",
	} {
		if got := tmpl.get("It", path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	if got, want := tmpl.get("Other", "Text"), "no resource Other"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// property is a property that a template must have.
type property struct{ resource, path, want string }

func (t template) check(tt *testing.T, properties []property) {
	tt.Helper()
	for _, p := range properties {
		if got := t.get(p.resource, p.path); got != p.want {
			tt.Errorf("%s of %s: got %s, want %s", p.path, p.resource, got, p.want)
		}
	}
}

// functionNames returns the folders of functions/.
func functionNames() []string {
	folders, err := filepath.Glob("../functions/*/main.go")
	must(err)
	var names []string
	for _, f := range folders {
		names = append(names, filepath.Base(filepath.Dir(f)))
	}
	return names
}

// logical returns a function's name in the template.
func logical(function string) string {
	if function == "dashboard" {
		return "DashboardPages"
	}
	var id strings.Builder
	for word := range strings.SplitSeq(function, "-") {
		id.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return id.String()
}

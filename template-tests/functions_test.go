package templatetests

import (
	"cmp"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/cloud/bus"
	"lipsync/internal/aws/cloud/jobs"
	"lipsync/internal/aws/cloud/media"
	"lipsync/internal/aws/cloud/messages"
	"lipsync/internal/aws/cloud/pages"
	"lipsync/internal/aws/cloud/posts"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/rest"
	"lipsync/internal/test/check"
)

func TestFunctions(t *testing.T) {
	var want []string
	for _, f := range functionNames() {
		name := logical(f)
		want = append(want, name)
		deployed().check(t, []property{
			{name, "Runtime", `"provided.al2023"`},
			{name, "Handler", `"bootstrap"`},
			{name, "Architectures", `["arm64"]`},
			{name, "TracingConfig", `{"Mode":"Active"}`},
			{name, "LoggingConfig", `{"LogFormat":"JSON","LogGroup":"` + name + `Log"}`},
			{name, "Role", `"` + name + `Role.Arn"`},
			{name, "ReservedConcurrentExecutions", ""}, // new accounts can't reserve any
		})
		other().check(t, []property{
			{name, "Architectures", `["x86_64"]`},
			{name, "ReservedConcurrentExecutions", map[string]string{"sweep": "2", "dispatch": "2", "broker": "54"}[f]},
		})
	}
	check.Names(t, "functions", deployed().all("AWS::Lambda::Function"), append(want, "Small"))
}

// TestMemory checks the memory of each function in MiB.
func TestMemory(t *testing.T) {
	others := map[string]int{"health": 256, "generate-with-media": 1024}
	for _, f := range functionNames() {
		if got, want := deployed().number(t, logical(f), "MemorySize"), cmp.Or(others[f], 512); got != want {
			t.Errorf("%s has %d MiB, want %d", f, got, want)
		}
	}
}

// TestTimeouts checks that each time-out is longer than the time of the work that it waits for.
func TestTimeouts(t *testing.T) {
	const gateway = 29 // seconds that API Gateway waits
	for _, f := range functionNames() {
		if got := deployed().number(t, logical(f), "Timeout"); got >= gateway && !slices.Contains([]string{"deliver", "dispatch", "publish", "sweep"}, f) {
			t.Errorf("%s has %d s, want less than the %d of API Gateway", f, got, gateway)
		}
	}
	if visibility, dispatch := deployed().number(t, "Queue", "VisibilityTimeout"), deployed().number(t, "Dispatch", "Timeout"); visibility <= 6*dispatch {
		t.Errorf("a message is hidden for %d s, want more than six times the %d s of dispatch", visibility, dispatch)
	}
	if visibility, deliver := deployed().number(t, "Deliveries", "VisibilityTimeout"), deployed().number(t, "Deliver", "Timeout"); visibility <= 6*deliver || deliver < 2*20+10 {
		t.Errorf("deliver has %d s, and a message is hidden for %d s; want time for two calls, and more than six times as much", deliver, visibility)
	}
	if got := deployed().number(t, "Sweep", "Timeout"); got >= 60 {
		t.Errorf("a sweep has %d s, want less than the minute until the next", got)
	}
	for _, tt := range []template{deployed(), other()} {
		job, lease := tt.number(t, "Runner", "Timeout.AttemptDurationSeconds"), int(lipsync.Lease.Seconds())
		if job <= 2*lease {
			t.Errorf("a job has %d s, want more than two leases of %d s", job, lease)
		}
	}
}

// TestEnvironment checks that each program gets exactly the variables that its code reads, with
// values of the right kind.
func TestEnvironment(t *testing.T) {
	for _, f := range functionNames() {
		var told map[string]string
		of := deployed()
		if f == "dispatch" || f == "sweep" {
			of = other() // with the queue of GPUs
		}
		of.read(t, logical(f), "Environment.Variables", &told)
		if n := told["GOMAXPROCS"]; n != "1" {
			t.Errorf("%s starts on %q processors, want 1", f, n)
		}
		delete(told, "GOMAXPROCS") // Go itself reads it
		compare(t, filepath.Join("../functions", f), told)
	}
	var told map[string]string
	other().read(t, "Small", "Environment.Variables", &told) // with optional settings; TestSmall compares them with those of the runner
	delete(told, "GOMAXPROCS")
	delete(told, "TMPDIR")
	compare(t, "../cmd/runner", told)
}

// TestSmall checks the function of small requests: its size, that nothing is tried again, that its invocations are reserved where that is possible, and
// that it has the variables that its program reads.
func TestSmall(t *testing.T) {
	for _, of := range []template{deployed(), other()} {
		of.check(t, []property{
			{"Small", "PackageType", `"Image"`},
			{"Small", "Timeout", `900`},
			{"Small", "MemorySize", `3008`},
			{"Small", "EphemeralStorage", `{"Size":10240}`},
			{"Small", "Role", `"SmallRole.Arn"`},
			{"Small", "TracingConfig", `{"Mode":"Active"}`},
			{"Small", "LoggingConfig", `{"LogFormat":"JSON","LogGroup":"SmallLog"}`},
			{"SmallEventInvokeConfig", "MaximumRetryAttempts", `0`},
			{"SmallEventInvokeConfig", "MaximumEventAgeInSeconds", `60`},
			{"Dispatch", "Environment.Variables.LIPSYNC_SMALL_FUNCTION", `"Small.Arn"`},
			{"Sweep", "Environment.Variables.LIPSYNC_SMALL_FUNCTION", `"Small.Arn"`},
		})
	}
	deployed().check(t, []property{
		{"Small", "Architectures", `["arm64"]`},
		{"Small", "ReservedConcurrentExecutions", ""}, // new accounts can't reserve any
		{"Dispatch", "Environment.Variables.LIPSYNC_SMALL_WORKERS", `"2"`},
	})
	other().check(t, []property{
		{"Small", "Architectures", `["x86_64"]`},
		{"Small", "ReservedConcurrentExecutions", `500`},
		{"Dispatch", "Environment.Variables.LIPSYNC_SMALL_WORKERS", `"500"`},
	})
	var told, runner map[string]string
	other().read(t, "Small", "Environment.Variables", &told)
	if cores := told["GOMAXPROCS"]; cores != "2" {
		t.Errorf("it uses %s cores, want 2", cores)
	}
	var pairs []struct{ Name, Value string }
	other().read(t, "Runner", "ContainerProperties.Environment", &pairs)
	runner = map[string]string{"TMPDIR": "/tmp"}
	for _, p := range pairs {
		runner[p.Name] = p.Value
	}
	for name, value := range map[string]string{"LIPSYNC_SCRATCH": "/tmp", "LIPSYNC_MODELS": "/tmp", "LIPSYNC_DUTY": "small", "GOMAXPROCS": "2"} {
		runner[name] = value
	}
	if !maps.Equal(told, runner) {
		t.Errorf("got the variables %v, want those of the runner, with its own: %v", told, runner)
	}
	for name := range none().Resources {
		if strings.HasPrefix(name, "Small") {
			t.Errorf("%s is there although the setting is 0", name)
		}
	}
	none().check(t, []property{{"Dispatch", "Environment.Variables.LIPSYNC_SMALL_FUNCTION", ""}})
}

// TestRetention checks that each function that uses the retention of media gets the operator's
// settings; otherwise it would use the defaults.
func TestRetention(t *testing.T) {
	keeps := map[string]bool{"dashboard": true, "deliver": true, "mcp": true, "publish": true, "sweep": true}
	for _, e := range rest.Endpoints() {
		for _, n := range e.Needs {
			keeps[e.Function] = keeps[e.Function] || needed[n].retention
		}
	}
	for _, f := range functionNames() {
		var got map[string]string
		other().read(t, logical(f), "Environment.Variables", &got)
		want := map[bool]string{true: "49h0m0s 48h0m0s 72h0m0s", false: "  "}[keeps[f]]
		if got := strings.Join([]string{got["LIPSYNC_KEEP_INPUTS"], got["LIPSYNC_KEEP_OUTPUTS"], got["LIPSYNC_KEEP_RECORDS"]}, " "); got != want {
			t.Errorf("%s: got %q, want %q", f, got, want)
		}
	}
}

// compare starts the parts of a program with the variables that its function gets, and checks that
// they read exactly these.
func compare(t *testing.T, folder string, told map[string]string) {
	t.Helper()
	w := wiring(t, folder)
	asked := w.asked
	getenv := func(name string) string {
		asked = append(asked, name)
		return strings.ReplaceAll(told[name], "::", "-") // AWS::Region can't be part of a URL
	}
	deployment, err := cloud.New(aws.Config{}, getenv, io.Discard, w.parts...)
	if err != nil && w.parts != nil {
		t.Errorf("%s does not start: %v", folder, err)
	}
	if w.pages {
		canceled, cancel := context.WithCancel(t.Context())
		cancel() // once it has its settings, it calls AWS
		if _, err := pages.New(canceled, deployment); !errors.Is(err, context.Canceled) {
			t.Errorf("%s does not start: %v", folder, err)
		}
	}
	others := []string{"LIPSYNC_ALLOW_PRIVATE_NETWORKS", "LIPSYNC_ONNXRUNTIME"} // for tests and other machines
	asked = slices.DeleteFunc(asked, func(name string) bool { return slices.Contains(others, name) })
	slices.Sort(asked)
	check.Names(t, "environment of "+folder, slices.Collect(maps.Keys(told)), slices.Compact(asked))
}

// wired has the contents of a program's source: the parts of the service, whether it has the
// dashboard, and the variables that it reads itself.
type wired struct {
	parts []cloud.Part
	pages bool
	asked []string
}

func wiring(t *testing.T, folder string) (w wired) {
	t.Helper()
	known := map[string]cloud.Part{
		"cloud.Records": cloud.Records, "media.Kept": media.Kept, "media.Signed": media.Signed, "messages.Queue": messages.Queue,
		"messages.Deliveries": messages.Deliveries, "posts.Client": posts.Client, "bus.Events": bus.Events,
		"cloud.Demand": cloud.Demand, "cloud.Broker": cloud.Broker, "jobs.Pool": jobs.Pool, "cloud.Generating": cloud.Generating, "cloud.Reading": cloud.Reading, "cloud.Sizes": cloud.Sizes,
		"cloud.Limits": cloud.Limits, "cloud.Retention": cloud.Retention, "cloud.Origins": cloud.Origins, "cloud.Engines": cloud.Engines, "cloud.Provenance": cloud.Provenance, "cloud.Workers": cloud.Workers,
	}
	variables := map[string]string{} // by the names of their settings in Go, in lower case
	for _, e := range settings.At(settings.Functions | settings.Runner) {
		variables[strings.ReplaceAll(e.Line().Name, "-", "")] = e.Line().Env()
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || files == nil {
		t.Fatalf("no source in %s: %v", folder, err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				from, ok := n.X.(*ast.Ident)
				switch {
				case ok && known[from.Name+"."+n.Sel.Name] != nil:
					w.parts = append(w.parts, known[from.Name+"."+n.Sel.Name])
				case ok && from.Name == "pages":
					w.pages = true
				case ok && from.Name == "settings" && variables[strings.ToLower(n.Sel.Name)] != "":
					w.asked = append(w.asked, variables[strings.ToLower(n.Sel.Name)])
				}
			}
			return true
		})
	}
	return w
}

package smoke

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
)

// The program guard sets these flags, and removes the stack at the end.
var (
	cdk       = flag.String("cdk", "", "the CDK's command line, from the folder infra; without it only the plan is printed")
	stackName = flag.String("name", "", "name of the stack")
	gpu       = flag.String("gpu", "", "a network of wav2lip, to also deploy image=cuda and do a job with it")
)

// These are for the suite: rates low enough to be reached within a minute, and files that together
// are slightly smaller than a form may be.
const (
	generateRate, readRate   = 30, 100
	maxVideoMiB, maxAudioMiB = 3, 1
)

// settings returns the arguments with the stack's settings: at most one instance of each kind.
func settings(name string) []string {
	return words([]string{
		"name=" + name, "keepData=false", "spotVcpus=4", "onDemandVcpus=4", "maxVideoMiB=3", "maxAudioMiB=1",
		"generateRate=30", "readRate=100", "logDays=1",
	})
}

// plan returns the plan of TestAWS as text.
func plan(name string, gpu bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The stack is that of make deploy ARGS='%s'. The steps, and what an hour of each costs at most, in US dollars:\n\n", strings.Join(settings(name), " "))
	for _, s := range Steps(gpu) {
		fmt.Fprintf(&b, "%-9s %.2f  %s\n", s.Name, s.Hourly, s.What)
	}
	fmt.Fprintf(&b, "%-9s %.2f  %s\n", "remove", 0., "empties the bucket, deletes the stack, and looks whether it is gone")
	return b.String()
}

// TestPlan checks that the plan has the steps that the docs name, in an order that removes everything
// at the end, and prints it.
func TestPlan(t *testing.T) {
	var got []string
	for line := range strings.Lines(plan("LipsyncSmoke", true)) {
		if fields := strings.Fields(line); len(fields) > 2 && strings.Contains(fields[1], ".") {
			got = append(got, fields[0])
		}
	}
	want := "deploy pools contract bodies job cancel reclaim sign-in image gpu network flood remove"
	if strings.Join(got, " ") != want {
		t.Fatalf("got the steps %q, want %s", got, want)
	}
	if *cdk == "" {
		fmt.Print("Without credentials this is only the plan.\n\n" + plan("LipsyncSmoke-…", *gpu != ""))
	}
}

// TestAWS runs all steps in the account of the environment's credentials. The program guard removes the stack.
func TestAWS(t *testing.T) {
	if *cdk == "" {
		t.Skip("needs an account: see make aws-smoke")
	}
	configured, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	on := instances{configured, *stackName}
	s := &Stack{
		Config: configured, Reclaim: on.reclaim, Log: on.log, Images: on, Patience: 30 * time.Minute,
		GenerateRate: generateRate, ReadRate: readRate, MaxVideo: maxVideoMiB << 20, MaxAudio: maxAudioMiB << 20,
		Network: *gpu, Provider: "CUDA",
		Differs: map[string]string{
			"list/bounds/limit=%zz":        "API Gateway reads the query itself",
			"list/bounds/a;b":              "API Gateway reads the query itself",
			"list/bounds/reference_id=%FF": "API Gateway reads the query itself",
		},
	}
	s.Deploy = func(t *testing.T, arguments ...string) { s.Outputs = deploy(t, *stackName, arguments...) }
	s.Draw(t)
	var took time.Duration
	var cost float64
	for _, step := range Steps(*gpu != "") {
		began := time.Now()
		t.Run(step.Name, func(t *testing.T) { step.Try(t, s) })
		d := since(began)
		dollars := step.Hourly * d.Hours()
		took, cost = took+d, cost+dollars
		t.Logf("%s took %s, for at most %.2f dollars; all so far %s, for %.2f", step.Name, d, dollars, took, cost)
		if s.Outputs == nil {
			return // there is no stack
		}
	}
}

// deploy runs make deploy's program, and returns the stack's outputs.
func deploy(t *testing.T, name string, arguments ...string) map[string]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "outputs.json")
	c := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"run", "./deploy", *cdk}, settings(name),
		[]string{"--require-approval", "never", "--outputs-file", file}, arguments)...)
	c.Dir, c.Stdout, c.Stderr = "..", os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v", c, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var stacks map[string]map[string]string
	if err := json.Unmarshal(text, &stacks); err != nil {
		t.Fatal(err)
	}
	return stacks[name]
}

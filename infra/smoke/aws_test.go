package smoke

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"lipsync/infra/account"
	"lipsync/internal/media/demo"
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

// withGPU are the settings that a GPU needs besides.
var withGPU = []string{"image=cuda", "engines=warp,wav2lip", "gpuSpotVcpus=4", "gpuOnDemandVcpus=4"}

// settings returns the stack's settings: at most one instance of each kind, which does small requests too.
func settings(name string, more ...string) []string {
	var words []string
	for _, pair := range append([]string{
		"name=" + name, "keepData=false", "spotVcpus=4", "onDemandVcpus=4", "maxVideoMiB=3", "maxAudioMiB=1",
		"generateRate=30", "readRate=100", "logDays=1", "smallWorkers=0",
	}, more...) {
		words = append(words, "-c", "lipsync:"+pair)
	}
	return words
}

// plan returns the plan of TestAWS as text.
func plan(name string, gpu bool) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("deploy     make deploy ARGS='%s'", strings.Join(settings(name), " "))
	for _, s := range Steps() {
		line("%-10s %s", s.Name, s.What)
	}
	if gpu {
		network := Network{}.Step()
		line("gpu        make deploy with %s: an instance with a GPU", strings.Join(withGPU, " "))
		line("%-10s %s: CUDA", network.Name, network.What)
	}
	line("remove     empties the bucket, deletes the stack, and looks whether it is gone")
	return b.String()
}

// TestPlan checks that the plan has the steps that the docs name, in an order that removes everything
// at the end, and prints it.
func TestPlan(t *testing.T) {
	got := plan("LipsyncSmoke", true)
	at := 0
	for _, want := range []string{"deploy ", "contract ", "large ", "job ", "cancel ", "reclaim ", "sign-in ", "gpu ", "network ", "remove "} {
		i := strings.Index(got[at:], "\n"+want)
		if at == 0 {
			i = strings.Index(got, want)
		}
		if i < 0 {
			t.Fatalf("got the plan\n%s\nwithout %s in its order", got, want)
		}
		at += i
	}
	if *cdk == "" {
		fmt.Print("Without credentials this is only the plan.\n\n" + plan("LipsyncSmoke-…", *gpu != ""))
	}
}

// TestAWS deploys to the account of the environment's credentials, and runs all steps. The program guard removes the stack.
func TestAWS(t *testing.T) {
	if *cdk == "" {
		t.Skip("needs an account: see make aws-smoke")
	}
	configured, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	s := &Stack{
		Config: configured, Outputs: deploy(t, *stackName), Patience: 30 * time.Minute,
		GenerateRate: generateRate, ReadRate: readRate, MaxVideo: maxVideoMiB << 20, MaxAudio: maxAudioMiB << 20,
		Differs: map[string]string{
			"list/bounds/limit=%zz":        "API Gateway reads the query itself",
			"list/bounds/a;b":              "API Gateway reads the query itself",
			"list/bounds/reference_id=%FF": "API Gateway reads the query itself",
		},
	}
	s.Reclaim = func(t *testing.T, _ string) {
		a := account.Account{Config: configured}
		ids, err := a.Terminate(t.Context(), physical(t, configured, *stackName, "AWS::EC2::SecurityGroup", ""))
		if err != nil || len(ids) == 0 {
			t.Fatalf("terminated %q (%v), want the instance", ids, err)
		}
		t.Logf("terminated %q", ids)
	}
	s.media(t)
	took := func(step string) {
		t.Logf("%s took %s", step, time.Since(started).Round(time.Second))
		started = time.Now()
	}
	took("deploy")
	for _, step := range Steps() {
		t.Run(step.Name, func(t *testing.T) { step.Try(t, s) })
		took(step.Name)
	}
	if *gpu != "" {
		s.Outputs = deploy(t, *stackName, withGPU...)
		took("deploy with a GPU")
		step := Network{File: *gpu, Provider: "CUDA", Log: func(since time.Time) []string {
			a := account.Account{Config: configured}
			lines, err := a.Logged(t.Context(), physical(t, configured, *stackName, "AWS::Logs::LogGroup", "RunnerLog"), `"`+networkFile+`"`, since)
			if err != nil {
				t.Fatal(err)
			}
			return lines
		}}.Step()
		t.Run(step.Name, func(t *testing.T) { step.Try(t, s) })
		took(step.Name)
	}
}

// deploy runs make deploy's program, and returns the stack's outputs.
func deploy(t *testing.T, name string, more ...string) map[string]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "outputs.json")
	command := append([]string{"run", "./deploy", *cdk}, settings(name, more...)...)
	run(t, t.Context(), "go", append(command, "--require-approval", "never", "--outputs-file", file)...)
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

// run runs a program in the folder infra, and shows its output.
func run(t *testing.T, ctx context.Context, program string, arguments ...string) {
	t.Helper()
	c := exec.CommandContext(ctx, program, arguments...)
	c.Dir, c.Stdout, c.Stderr = "..", os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		t.Errorf("%s: %v", c, err)
	}
}

// physical returns the id of the stack's only resource of a type whose name in the template begins with the prefix.
func physical(t *testing.T, configured aws.Config, stack, kind, prefix string) string {
	t.Helper()
	pages := cloudformation.NewListStackResourcesPaginator(cloudformation.NewFromConfig(configured), &cloudformation.ListStackResourcesInput{StackName: &stack})
	for pages.HasMorePages() { // the stack has more parts than DescribeStackResources gives
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.StackResourceSummaries {
			if aws.ToString(r.ResourceType) == kind && strings.HasPrefix(aws.ToString(r.LogicalResourceId), prefix) {
				return aws.ToString(r.PhysicalResourceId)
			}
		}
	}
	t.Fatalf("%s has no %s", stack, kind)
	return ""
}

// media draws a video and makes two audio files.
func (s *Stack) media(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	large, video := filepath.Join(dir, "large.mp4"), filepath.Join(dir, "video.mp4")
	if err := demo.Video(t.Context(), large, 15, func(int) {}); err != nil {
		t.Fatal(err)
	}
	ffmpeg(t, "-i", large, "-vf", "scale=480:270", video)
	s.Video = read(t, video)
	for name, into := range map[string]*[]byte{"0.6": &s.Audio, "600": &s.Long} {
		path := filepath.Join(dir, name+".mp3")
		ffmpeg(t, "-f", "lavfi", "-i", "sine=frequency=200:duration="+name, "-b:a", "8k", path)
		*into = read(t, path)
	}
}

func ffmpeg(t *testing.T, arguments ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "ffmpeg", append([]string{"-v", "error", "-nostdin", "-y"}, arguments...)...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", c, err, out)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

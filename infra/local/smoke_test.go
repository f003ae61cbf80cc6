package main

import (
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"lipsync/infra/smoke"
	"lipsync/internal/test/check"
	"lipsync/internal/test/onnxtest"
)

// TestSmoke_long runs the steps of make aws-smoke on the emulator. If they pass here but fail on AWS, AWS
// differs from the emulator.
func TestSmoke_long(t *testing.T) {
	elsewhere := map[string]string{
		"deploy":   "the fixtures make the stack",
		"contract": "TestContract",
		"pools":    "TestSmall",
		"network":  "TestNetwork_long",
		"gpu":      "the emulator has no instances",
		"flood":    "the emulator refuses no calls: TestFlood of the steps' package calls functions in memory",
	}
	d := faulty(t)
	d.clean(t)
	long := filepath.Join(t.TempDir(), "long.mp3")
	check.Must(t, ffmpeg("-f", "lavfi", "-i", "sine=frequency=200:duration=40", "-b:a", "32k", long))
	s := d.smoked(t)
	s.Large, s.Long = s.Video, read(t, long) // no small worker is there
	for _, step := range smoke.Steps(true) {
		if elsewhere[step.Name] == "" {
			t.Run(step.Name, func(t *testing.T) { step.Try(t, s) })
		}
	}
}

// TestNetwork_long runs the step of make aws-smoke that needs a GPU on AWS, on the processor.
func TestNetwork_long(t *testing.T) {
	s := faulty(t).smoked(t)
	s.Network, s.Provider = onnxtest.AsItIs().File(t), "CPU"
	stepOf(t, "network").Try(t, s)
}

// stepOf returns a step of make aws-smoke.
func stepOf(t *testing.T, name string) smoke.Step {
	t.Helper()
	all := smoke.Steps(true)
	i := slices.IndexFunc(all, func(s smoke.Step) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no step %s", name)
	}
	return all[i]
}

// smoked returns the deployment for steps of make aws-smoke.
func (d *testDeployment) smoked(t *testing.T) *smoke.Stack {
	return &smoke.Stack{
		Config: d.config, Outputs: d.Outputs, Patience: patience, Deploy: d.update, Reclaim: d.reclaim, Log: d.lines,
		GenerateRate: generateRate, ReadRate: readRate, MaxVideo: maxVideoMiB << 20, MaxAudio: maxAudioMiB << 20,
		Video: read(t, fixtures.video), Audio: read(t, fixtures.speech),
	}
}

// update deploys the stack with other functions, as a release does. The arguments have a machine image, and there are no machines.
func (d *testDeployment) update(t *testing.T, _ ...string) {
	t.Helper()
	stacks := cloudformation.NewFromConfig(d.config)
	now, err := stacks.GetTemplate(t.Context(), &cloudformation.GetTemplateInput{StackName: &d.stack})
	check.Must(t, err)
	var changed template
	check.Must(t, json.Unmarshal([]byte(*now.TemplateBody), &changed))
	key := rand.Text()
	for _, r := range changed.Resources {
		if environment, _ := r.Properties["Environment"].(map[string]any); r.Type == "AWS::Lambda::Function" {
			environment["Variables"].(map[string]any)["RELEASE"] = key
		}
	}
	body, err := json.Marshal(changed)
	check.Must(t, err)
	made, err := newDeployer(t.Context(), d.config, new(undo))
	check.Must(t, err)
	const bucket = "releases"
	check.Must(t, made.put(t.Context(), bucket, key, body))
	url := *d.config.BaseEndpoint + "/" + bucket + "/" + key
	_, err = stacks.UpdateStack(t.Context(), &cloudformation.UpdateStackInput{
		StackName: &d.stack, TemplateURL: &url, Capabilities: []types.Capability{types.CapabilityCapabilityIam, types.CapabilityCapabilityNamedIam},
	})
	check.Must(t, err)
	waiter := cloudformation.NewStackUpdateCompleteWaiter(stacks, func(o *cloudformation.StackUpdateCompleteWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, time.Second
	})
	check.Must(t, waiter.Wait(t.Context(), &cloudformation.DescribeStacksInput{StackName: &d.stack}, deployTime))
	if got := d.variable(t, "Broker", "RELEASE"); got != key {
		t.Errorf("after the update the function has %q, want %q", got, key)
	}
}

// reclaim ends the runner of a request as a host that is reclaimed does.
func (d *testDeployment) reclaim(t *testing.T, request string) {
	told := d.Batch.Running()
	for _, id := range told {
		if err := d.Batch.Signal(id, syscall.SIGTERM); err != nil {
			t.Fatalf("reclaim the host of %s: %v", request, err)
		}
	}
	await(t, "the runner to leave", func() bool { // another may have started instead
		return !slices.ContainsFunc(d.Batch.Running(), func(id string) bool { return slices.Contains(told, id) })
	})
	d.invoke(t, "Sweep")
}

// lines returns the lines with a word of those that jobs wrote, or calls of the function of small requests.
func (d *testDeployment) lines(t *testing.T, group string, _ time.Time, word string) (all []string) {
	for line := range strings.Lines(string(read(t, d.log))) {
		if strings.Contains(line, word) && strings.Contains(line, `"job":`) == (group == "RunnerLog") {
			all = append(all, line)
		}
	}
	return all
}

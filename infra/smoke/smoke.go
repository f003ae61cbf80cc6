// Package smoke tests the deployed service from outside, step by step, where only AWS itself can
// show the result. Its own test deploys a stack for that and removes it again. The steps also run
// on an emulator, as far as it supports them.
package smoke

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/service"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/lipsynctest"
	"lipsync/internal/test/resttest"
)

// Stack is the deployed service.
type Stack struct {
	Config  aws.Config        // with all rights to the stack
	Outputs map[string]string // of the stack
	// Deploy deploys the stack by make deploy with further arguments, and sets Outputs.
	Deploy func(t *testing.T, arguments ...string)
	// Reclaim ends the machine that runs the job of a request, as AWS does with Spot instances.
	Reclaim func(t *testing.T, request string)
	// Log returns the lines of a log group since a time that have a word.
	Log func(t *testing.T, group string, since time.Time, word string) []string
	// Images is nil if there are no instances, as on an emulator.
	Images Images
	// Patience is the time that a small job may take, including the start of an instance.
	Patience time.Duration

	// These are the stack's rates, and media that a runner can sync: see resttest.Target.
	GenerateRate, ReadRate int
	MaxVideo, MaxAudio     int64
	Video, Audio, Long     []byte // Long is a speech that takes some minutes to render
	Large                  []byte // a video that makes a large request with Long
	Differs                map[string]string

	Network  string // the path of a network of wav2lip
	Provider string // what must compute it
}

// Images knows the machine images of a stack's instances.
type Images interface {
	// Other returns an image that the deployed stack doesn't name, and the arguments by which a deployment does.
	Other(t *testing.T) (image string, arguments []string)
	// Running returns the images of the instances that run.
	Running(t *testing.T) []string
}

// These are groups of logs, by their names in the stack.
const (
	machines = "RunnerLog"
	function = "SmallLog"
)

// Step is one test of the service.
type Step struct {
	Name string
	// What says what the step does.
	What string
	// Hourly is the most, in US dollars an hour, that it costs in us-east-1.
	Hourly float64
	Try    func(t *testing.T, s *Stack)
}

// Prices in US dollars an hour: look them up.
const (
	// instance is the dearest of the usual types without a GPU, on demand, with its disk and address. Small workers, which then have the work, cost less.
	instance = .26
	// gpuInstance is the same with a GPU.
	gpuInstance = 1.90
	// flooded are the 100 calls a second that a route without a key takes, at 4.70 a million.
	flooded = 1.70
)

// Steps returns the steps in their order. Each uses its own keys and users.
func Steps(gpu bool) []Step {
	all := []Step{
		{"deploy", "makes the stack by make deploy", 0, func(t *testing.T, s *Stack) { s.Deploy(t) }},
		// Before the others, since an instance that is idle would take both requests.
		{"pools", "has the function do a small request, and give a large one back, which an instance does", instance, pools},
		{"contract", "the suite of the HTTP API, with small jobs", instance, contract},
		{"bodies", "bodies of 5, 7 and 11 MB, and a call without a key: what API Gateway answers by itself", instance, bodies},
		{"job", "uploads a video and a speech, waits as Retry-After asks, fetches the output", instance, whole},
		{"cancel", "cancels a request while it renders", instance, cancel},
		{"reclaim", "terminates the instance (TerminateInstances) that renders a request, which must still complete", 2 * instance, reclaim},
		{"sign-in", "invites a user, who signs in at the dashboard with a browser", instance, signIn},
		{"image", "deploys another machine image while an instance renders a request, which must complete; the next instance must have it", 2 * instance, image},
	}
	if gpu {
		all = append(all,
			Step{"gpu", "make deploy with " + strings.Join(withGPU, " "), instance, func(t *testing.T, s *Stack) { s.Deploy(t, words(withGPU)...) }},
			Step{"network", "puts a network of wav2lip into the bucket, does a job with it, and reads in the runner's log what computed it", instance + gpuInstance, network})
	}
	// Last, since its errors may raise the alarm that takes deployments back.
	return append(all, Step{"flood", "calls without a key until API Gateway refuses them, and meanwhile with a key, which it must not refuse", instance + flooded, flood})
}

// withGPU are the settings that a GPU needs besides.
var withGPU = []string{"image=cuda", "engines=warp,wav2lip", "gpuSpotVcpus=4", "gpuOnDemandVcpus=4"}

// words returns the arguments of make deploy for settings.
func words(settings []string) (all []string) {
	for _, pair := range settings {
		all = append(all, "-c", "lipsync:"+pair)
	}
	return all
}

func contract(t *testing.T, s *Stack) {
	resttest.Run(t, resttest.Target{
		URL: s.host(), GenerateRate: s.GenerateRate, ReadRate: s.ReadRate,
		MaxVideo: s.MaxVideo, MaxAudio: s.MaxAudio, MaxForm: 4_400_000, KeepOutputs: 7 * 24 * time.Hour,
		Video: s.Video, Audio: s.Audio, Long: s.Long, Differs: s.Differs,
		NewKey: resttest.KeysOf(s.service(t)),
	})
}

// service returns the domain on the stack's table.
func (s *Stack) service(t testing.TB) *service.Service {
	t.Helper()
	return lipsynctest.NewService(t, base.Config{}, base.Ports{Store: dynamodb.New(s.Config, s.Outputs["TableName"]).Store})
}

// late is the most time after which a line is in a log.
const late = 2 * time.Minute

// wantLine checks that a line of a log group has a word and a text.
func (s *Stack) wantLine(t *testing.T, group string, since time.Time, word, text string) {
	t.Helper()
	var lines []string
	found := within(late, func() bool {
		lines = s.Log(t, group, since, word)
		return slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, text) })
	})
	if !found {
		t.Fatalf("no line of %s with %s has %s:\n%s", group, word, text, strings.Join(lines, "\n"))
	}
}

// within asks each second whether something is done, and reports whether it was before the limit.
func within(limit time.Duration, done func() bool) bool {
	for deadline := time.Now().Add(limit); !done(); time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

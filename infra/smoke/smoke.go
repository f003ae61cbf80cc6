// Package smoke tests the deployed service from outside, step by step, where only AWS itself can
// show the result. Its own test deploys a stack for that and removes it again. The steps also run
// on an emulator, as far as it supports them.
package smoke

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/lipsynctest"
	"lipsync/internal/test/resttest"
)

// Stack is the deployed service.
type Stack struct {
	Config  aws.Config        // with all rights to the stack
	Outputs map[string]string // of the stack
	// Reclaim ends the machine that runs the job of a request, as AWS does with Spot instances.
	Reclaim func(t *testing.T, request string)
	// Patience is the time that a small job may take, including the start of an instance.
	Patience time.Duration

	// These are the stack's rates, and media that a runner can sync: see resttest.Target.
	GenerateRate, ReadRate int
	MaxVideo, MaxAudio     int64
	Video, Audio, Long     []byte // Long is a speech that takes some minutes to render
	Differs                map[string]string
}

// Step is one test of the service.
type Step struct {
	Name string
	// What says what the step does and what it costs.
	What string
	Try  func(t *testing.T, s *Stack)
}

// Steps returns the steps in their order. Each uses its own keys and users.
func Steps() []Step {
	return []Step{
		{"contract", "the suite of the HTTP API, with small jobs: some minutes of an instance", contract},
		{"large", "bodies of 5, 7 and 11 MB, and a call without a key: what API Gateway answers by itself", large},
		{"job", "uploads a video and a speech, waits as Retry-After asks, fetches the output", whole},
		{"cancel", "cancels a request while it renders", cancel},
		{"reclaim", "terminates the instance (TerminateInstances) that renders a request, which must still complete", reclaim},
		{"sign-in", "invites a user, who signs in at the dashboard with a browser", signIn},
	}
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
	return lipsynctest.NewService(t, lipsync.Config{}, lipsync.Ports{Store: dynamodb.New(s.Config, s.Outputs["TableName"]).Store})
}

package stack

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
)

// Settings are what an operator decides. Each is a key of CDK's context, named
// in the comment after it, and given in cdk.json or as -c KEY=VALUE.
type Settings struct {
	// Name is the stack's. A second one in the same account and region counts
	// into the same metrics.
	Name string // lipsync:name
	// KeepData has the table and the bucket outlive the stack, and the stack
	// refuse to be deleted.
	KeepData bool // lipsync:keepData
	// FirstDeploy leaves the data unprotected, so that AWS can take away again a stack that
	// it could not make. make deploy sets it, and then deploys once more without.
	FirstDeploy bool // lipsync:firstDeploy

	// Image is which runner renders: "cpu", or "cuda" on instances with a GPU.
	Image string // lipsync:image
	// Zones is how many availability zones of the region the instances are in.
	Zones int // lipsync:zones
	// InstanceTypes are what Batch may start, of 4 vCPUs and at least 16 GiB. Use
	// types of one job each: of more vCPUs Batch runs several jobs on one instance,
	// and the disk is made for one.
	InstanceTypes []string // lipsync:instanceTypes
	// SpotVCPUs and OnDemandVCPUs bound what runs at a time: Spot first,
	// on-demand once there is no more Spot. 0 does without.
	SpotVCPUs, OnDemandVCPUs int // lipsync:spotVcpus, lipsync:onDemandVcpus
	// JobTimeout is when Batch kills a job.
	JobTimeout time.Duration // lipsync:jobTimeout

	// Engines are what requests may name as their model, the default first: warp,
	// and wav2lip once there is such a model.
	Engines []string // lipsync:engines

	// NVIDIAVideo has pictures decoded and encoded by the GPU too.
	NVIDIAVideo bool // lipsync:nvidiaVideo

	// GenerateRate and ReadRate are calls a minute for one API key.
	GenerateRate, ReadRate int // lipsync:generateRate, lipsync:readRate
	// RequestRate is how many calls a second the API takes from all clients
	// together, and twice as many in a burst.
	RequestRate int // lipsync:requestRate

	// Limits of an account: requests that are not final, GiB of uploads and outputs,
	// active API keys.
	MaxOpenRequests, MaxStoredGiB, MaxKeys int // lipsync:maxOpenRequests, lipsync:maxStoredGiB, lipsync:maxKeys

	// KeepInputs is how long an upload stays after it was announced or last used, and
	// KeepOutputs how long an output does after its request completed.
	KeepInputs, KeepOutputs time.Duration // lipsync:keepInputs, lipsync:keepOutputs

	// Limits of a medium: MiB, time, pixels of a side, frames a second.
	MaxVideoMiB, MaxAudioMiB int           // lipsync:maxVideoMiB, lipsync:maxAudioMiB
	MaxDuration              time.Duration // lipsync:maxDuration
	MaxSide, MaxFPS          int           // lipsync:maxSide, lipsync:maxFps

	// SelfSignUp has strangers make themselves users of the dashboard.
	SelfSignUp bool // lipsync:selfSignUp

	// CORSOrigins are the web sites whose pages may call the API, send uploads and fetch outputs.
	CORSOrigins []string // lipsync:corsOrigins
	// LogDays is how long logs are kept.
	LogDays int // lipsync:logDays
	// AlarmEmail gets the alarms; for "" nobody does, until one subscribes to the topic.
	AlarmEmail string // lipsync:alarmEmail

	// Repository is the path of this repository's root, and Functions that of
	// the built Lambdas, of the architecture arm64 or x86_64. They are for tests.
	Repository, Functions, Architecture string // lipsync:repository, lipsync:functions, lipsync:architecture

	// InEffect has all settings that outlive a deployment, as text, by their names.
	InEffect map[string]string

	ignored []string // paths of the repository that the image is not built of
}

// ReadSettings takes the settings from the app's context, and looks whether what
// they name is there. What is wrong is an error of one sentence.
func ReadSettings(app awscdk.App) (Settings, error) {
	all, _ := app.Node().GetAllContext(nil).(map[string]any)
	s, err := ParseSettings(all)
	if err != nil {
		return Settings{}, err
	}
	if _, err := os.Stat(filepath.Join(s.Functions, "health", "bootstrap")); err != nil {
		return Settings{}, fmt.Errorf("%s has no functions: run make build", s.Functions)
	}
	if s.ignored, err = readIgnored(s.Repository); err != nil {
		return Settings{}, fmt.Errorf("lipsync:repository: %w", err)
	}
	return s, nil
}

// ParseSettings takes the settings from a context. An unknown or bad one is an
// error.
func ParseSettings(context map[string]any) (Settings, error) {
	r := reader{values: maps.Clone(context), inEffect: map[string]string{}}
	s := Settings{
		Name:     r.match("name", "Lipsync", stackName, "letters, digits and dashes, a letter first, at most 40"),
		KeepData: r.flag("keepData", true), FirstDeploy: r.flag("firstDeploy", false),

		Image:         r.oneOf("image", "cpu", "cuda"),
		Zones:         r.whole("zones", 3, 1, 6),
		SpotVCPUs:     r.whole("spotVcpus", 64, 0, 10_000),
		OnDemandVCPUs: r.whole("onDemandVcpus", 16, 0, 10_000),
		JobTimeout:    r.duration("jobTimeout", 6*time.Hour, 10*time.Minute, 7*24*time.Hour),

		Engines: r.list("engines", engine, "warp or wav2lip", "warp"),

		NVIDIAVideo: r.flag("nvidiaVideo", false),

		GenerateRate: r.whole("generateRate", 60, 1, 1_000_000),
		ReadRate:     r.whole("readRate", 600, 1, 1_000_000),
		RequestRate:  r.whole("requestRate", 500, 1, 10_000),

		MaxOpenRequests: r.whole("maxOpenRequests", 1000, 1, 1_000_000),
		MaxStoredGiB:    r.whole("maxStoredGiB", 1024, 1, 1_000_000),
		MaxKeys:         r.whole("maxKeys", 1000, 1, 100_000),

		KeepInputs:  r.duration("keepInputs", 24*time.Hour, time.Hour, 365*24*time.Hour),
		KeepOutputs: r.duration("keepOutputs", 30*24*time.Hour, time.Hour, 10*365*24*time.Hour),

		MaxVideoMiB: r.whole("maxVideoMiB", 5*1024, 1, 5*1024),
		MaxAudioMiB: r.whole("maxAudioMiB", 500, 1, 5*1024),
		MaxDuration: r.duration("maxDuration", time.Hour, time.Second, 24*time.Hour),
		MaxSide:     r.whole("maxSide", 4096, 16, 8192),
		MaxFPS:      r.whole("maxFps", 120, 1, 240),

		SelfSignUp: r.flag("selfSignUp", false),

		CORSOrigins: r.list("corsOrigins", origin, "* or an origin such as https://example.com", "*"),
		LogDays:     r.logDays("logDays", 30),
		AlarmEmail:  r.match("alarmEmail", "", "|"+email, "an e-mail address"),

		Repository:   r.match("repository", "..", anything, "a path"),
		Functions:    r.match("functions", "../dist/functions", anything, "a path"),
		Architecture: r.oneOf("architecture", "arm64", "x86_64"),
	}
	s.InstanceTypes = r.list("instanceTypes", instanceType, "a type such as g5.xlarge", defaultTypes(s.Image)...)
	s.InEffect = r.inEffect
	for _, passing := range []string{"firstDeploy", "repository", "functions", "architecture"} {
		delete(s.InEffect, prefix+passing)
	}
	if s.NVIDIAVideo && s.Image == "cpu" {
		r.refuse("lipsync:nvidiaVideo is true, but lipsync:image is cpu")
	}
	if max(s.SpotVCPUs, s.OnDemandVCPUs) < JobVCPUs {
		r.refuse("lipsync:spotVcpus and lipsync:onDemandVcpus are both less than the %d that one job takes", JobVCPUs)
	}
	return s, r.finish()
}

// protected tells whether AWS refuses to delete what keeps data.
func (s Settings) protected() bool { return s.KeepData && !s.FirstDeploy }

// defaultTypes are the smallest instances with a GPU, or without, that the job
// fits, of some generations, so that Spot has a choice.
func defaultTypes(image string) []string {
	if image == "cpu" {
		return []string{"m6i.xlarge", "m7i.xlarge", "m6a.xlarge", "m7a.xlarge"}
	}
	return []string{"g4dn.xlarge", "g5.xlarge", "g6.xlarge"}
}

package stack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecrassets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/settings"
)

// smallName is the name of the function of small requests among the stack's functions.
const smallName = "small"

const (
	// smallMiB is the memory of the function of small requests, the most that new accounts get. It has 1.7 processors.
	smallMiB   = 3008
	smallCores = 2
	// smallDiskGiB is the size of its /tmp, the most that Lambda has.
	smallDiskGiB = 10
	smallTimeout = 15 * time.Minute
	// startWait is the time for which Lambda tries to start a small worker. Then the sweep has started another.
	startWait = time.Minute
)

// starts reports whether the function starts workers.
func starts(function string) bool { return function == "dispatch" || function == "sweep" }

// addSmall adds the function that does small requests, unless the setting says none. It is the runner's program, with the runner's rights.
func (s *service) addSmall() {
	if settings.SmallWorkers.In(s.Values) == 0 {
		return
	}
	role, log := s.runnerRole("SmallRole", "lambda.amazonaws.com"), s.logGroup("SmallLog")
	log.GrantWrite(role)
	variables := s.runnerEnvironment(smallCores, false)
	for _, e := range []settings.Entry{settings.Scratch, settings.Models} {
		(*variables)[e.Line().Env()] = jsii.String("/tmp")
	}
	(*variables)[settings.Duty.Line().Env()] = jsii.String(string(lipsync.DoesSmall))
	(*variables)["TMPDIR"] = jsii.String("/tmp")
	s.small = awslambda.NewDockerImageFunction(s.stack, jsii.String("Small"), &awslambda.DockerImageFunctionProps{
		Description:  jsii.String("Does small requests"),
		Code:         s.smallImage(),
		Architecture: s.architecture(),
		Role:         role,
		Timeout:      awscdk.Duration_Seconds(jsii.Number(smallTimeout.Seconds())),
		MemorySize:   jsii.Number(smallMiB),
		Environment:  variables,
		Tracing:      awslambda.Tracing_ACTIVE,
		LogGroup:     log,

		EphemeralStorageSize:         awscdk.Size_Gibibytes(jsii.Number(smallDiskGiB)),
		LoggingFormat:                awslambda.LoggingFormat_JSON,
		ReservedConcurrentExecutions: s.reserved(smallName),
		RetryAttempts:                jsii.Number(0), // the sweep starts others
		MaxEventAge:                  awscdk.Duration_Seconds(jsii.Number(startWait.Seconds())),
	})
}

// smallImage returns the function's image: the runner's without libraries of networks.
func (s *service) smallImage() awslambda.DockerImageCode {
	platform := awsecrassets.Platform_LINUX_ARM64()
	if settings.Architecture.In(s.Values) == "x86_64" {
		platform = awsecrassets.Platform_LINUX_AMD64()
	}
	return awslambda.DockerImageCode_FromImageAsset(jsii.String(settings.Repository.In(s.Values)), &awslambda.AssetImageCodeProps{
		File:       jsii.String(dockerfile),
		Target:     jsii.String("function"),
		BuildArgs:  &map[string]*string{"SIGNER": jsii.String(s.signer())},
		Platform:   platform,
		IgnoreMode: awscdk.IgnoreMode_DOCKER,
		Exclude:    jsii.Strings(s.ignored...),
	})
}

// architecture returns the processor of functions.
func (s *service) architecture() awslambda.Architecture {
	if settings.Architecture.In(s.Values) == "x86_64" {
		return awslambda.Architecture_X86_64()
	}
	return awslambda.Architecture_ARM_64()
}

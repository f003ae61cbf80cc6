package stack

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecrassets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/settings"
)

// JobVCPUs is the number of vCPUs of one job: those of an instance.
const JobVCPUs = 4

// Memory of one job in GiB. With the engine warp all its processes took up to .4 at 1080p, and .9 at 3840 × 1920 with two faces; the rest is for larger and
// worse media. An instance of 8 GiB has 7 for jobs. With the networks of all engines, of full size, they took 5.5 to 6.4 with one request, 5.9 on a CPU,
// and 5.9 to 7.1 with four at once, all at 512 × 512. Four of large pictures at once were not measured.
const (
	plainGiB  = 6
	neuralGiB = 12 // of the 16 of an instance
)

// memoryGiB returns the memory of one job of the fleet in GiB.
func (s *service) memoryGiB(f *Fleet) int {
	if f.duty.Does(lipsync.Neural) && settings.NeedsNetwork(s.Values) {
		return neuralGiB
	}
	return plainGiB
}

// attempts is the number of times that Batch starts a job: see retries. After that the job has
// failed, which raises an alarm. While requests wait, other jobs are started.
const attempts = 3

const scratch = "/scratch"

// models is the path of the machine's folder of models in a container.
const models = "/models"

// addRunners adds the jobs that render.
func (s *service) addRunners() {
	role, log := s.runnerRole("RunnerRole", "ecs-tasks.amazonaws.com"), s.logGroup("RunnerLog")
	for _, f := range s.fleets {
		s.addRunner(f, role, log)
	}
}

// addRunner adds the job of a fleet.
func (s *service) addRunner(f *Fleet, role awsiam.IRole, log awslogs.ILogGroup) {
	// vCPUs are shares of the instance's time and not a bound. Without the number of cores, the
	// runner would start threads for all of the instance.
	variables := s.runnerEnvironment(JobVCPUs, f.GPU)
	if f.duty != lipsync.DoesAll {
		(*variables)[settings.Duty.Line().Env()] = jsii.String(string(f.duty))
	}
	f.definition = awsbatch.NewEcsJobDefinition(s.stack, jsii.String(f.prefix+"Runner"), &awsbatch.EcsJobDefinitionProps{
		Timeout:         awscdk.Duration_Seconds(jsii.Number(settings.JobTimeout.In(s.Values).Seconds())),
		RetryAttempts:   jsii.Number(attempts),
		RetryStrategies: retries(),
		// During an update of the stack, dispatch still uses the last revision.
		SkipDeregisterOnUpdate: jsii.Bool(true),
		Container: awsbatch.NewEcsEc2ContainerDefinition(s.stack, jsii.String(f.prefix+"Container"), &awsbatch.EcsEc2ContainerDefinitionProps{
			Image:                  awsecs.ContainerImage_FromDockerImageAsset(s.image(f)),
			Cpu:                    jsii.Number(JobVCPUs),
			Memory:                 awscdk.Size_Gibibytes(jsii.Number(s.memoryGiB(f))),
			Gpu:                    f.gpus(),
			User:                   jsii.String("65532:65532"),
			ReadonlyRootFilesystem: jsii.Bool(true),
			// Without a path of the host, Docker makes a volume with the owner of the folder in the
			// image, and removes it with the container.
			Volumes: &[]awsbatch.EcsVolume{
				awsbatch.EcsVolume_Host(&awsbatch.HostVolumeOptions{
					Name: jsii.String("scratch"), ContainerPath: jsii.String(scratch),
				}),
				awsbatch.EcsVolume_Host(&awsbatch.HostVolumeOptions{
					Name: jsii.String("models"), ContainerPath: jsii.String(models), HostPath: jsii.String(machineModels),
				}),
			},
			Environment: variables,
			JobRole:     role,
			Logging: awsecs.LogDriver_AwsLogs(&awsecs.AwsLogDriverProps{
				LogGroup: log, StreamPrefix: jsii.String("runner"),
			}),
		}),
	})
}

// runnerSettings returns the settings that the stack gives to runners.
func runnerSettings() []settings.Entry {
	return []settings.Entry{
		settings.Name, settings.BrokerFunction, settings.Bucket, settings.Scratch, settings.Models, settings.NVIDIAEncode,
		settings.JobTimeout, settings.MaxVideo, settings.MaxAudio, settings.MaxDuration, settings.MaxSide, settings.MaxFPS, settings.MaxGigapixels, settings.KeepFindings, settings.ProvenanceSecret, settings.RequireProvenance,
	}
}

// runnerEnvironment returns the environment variables of a runner that uses the number of cores, and may use a GPU.
func (s *service) runnerEnvironment(cores int, gpu bool) *map[string]*string {
	variables := s.environment(cores, runnerSettings()...)
	providers := "cuda,cpu" // named, so that a runner without its GPU reports that
	if !gpu {
		providers, (*variables)[settings.NVIDIAEncode.Env()] = "cpu", jsii.String("false")
	}
	(*variables)[settings.Providers.Env()] = jsii.String(providers)
	return variables
}

// retries returns the rules by which Batch tries a job again: if its instance was lost, or if the
// job never ran. The first rule that matches decides, and Batch accepts at most five. Batch also
// tries a job again that matches no rule, such as one without an exit code, because its container
// could not be pulled or made in time. A runner that ended by itself is not tried again, because
// other jobs are started as long as requests wait. Its exit codes, and those of signals, begin with
// 1 or 2.
func retries() *[]awsbatch.RetryStrategy {
	return &[]awsbatch.RetryStrategy{
		retry(awsbatch.CustomReason{OnStatusReason: jsii.String("Host EC2*")}),
		retry(awsbatch.CustomReason{OnStatusReason: jsii.String("Task failed to start*")}),
		awsbatch.RetryStrategy_Of(awsbatch.Action_EXIT, awsbatch.Reason_Custom(&awsbatch.CustomReason{OnExitCode: jsii.String("1*")})),
		awsbatch.RetryStrategy_Of(awsbatch.Action_EXIT, awsbatch.Reason_Custom(&awsbatch.CustomReason{OnExitCode: jsii.String("2*")})),
	}
}

func retry(on awsbatch.CustomReason) awsbatch.RetryStrategy {
	return awsbatch.RetryStrategy_Of(awsbatch.Action_RETRY, awsbatch.Reason_Custom(&on))
}

func (f *Fleet) gpus() *float64 {
	if !f.GPU {
		return nil
	}
	return jsii.Number(1)
}

// dockerfile is the path of the Dockerfile in the repository. The file beside it lists the paths
// that the build doesn't need.
const dockerfile = "cmd/runner/Dockerfile"

// image returns the image of a fleet's runner. The cdk command builds it when it deploys.
func (s *service) image(f *Fleet) awsecrassets.DockerImageAsset {
	target := "cpu"
	if f.GPU {
		target = "cuda"
	}
	return awsecrassets.NewDockerImageAsset(s.stack, jsii.String(f.prefix+"Image"), &awsecrassets.DockerImageAssetProps{
		Directory:  jsii.String(settings.Repository.In(s.Values)),
		File:       jsii.String(dockerfile),
		Target:     jsii.String(target),
		BuildArgs:  &map[string]*string{"SIGNER": jsii.String(s.signer())},
		Platform:   awsecrassets.Platform_LINUX_AMD64(),
		IgnoreMode: awscdk.IgnoreMode_DOCKER,
		Exclude:    jsii.Strings(s.ignored...),
	})
}

// signer returns the name of the image's program that signs outputs. Its build takes longer than that of all else.
func (s *service) signer() string {
	if settings.ProvenanceSecret.In(s.Values) == "" {
		return "none"
	}
	return "c2patool"
}

// readIgnored reads the list of paths that the image is built without. Docker reads that file
// itself; CDK does not.
func readIgnored(repository string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(repository, dockerfile+".dockerignore"))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "#") }), nil
}

// runnerRole returns a role of the runner, which the service of AWS that runs it assumes.
func (s *service) runnerRole(id, runs string) awsiam.Role {
	role := awsiam.NewRole(s.stack, jsii.String(id), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String(runs), nil),
	})
	for _, statement := range s.runnerRights() {
		role.AddToPolicy(statement)
	}
	return role
}

// runnerRights returns what a program that renders may do by itself: call the broker, which gives it all else that a request needs, read the
// models, and read the key that signs outputs.
func (s *service) runnerRights() policy {
	rights := policy{allow([]string{"lambda:InvokeFunction"}, s.functions["broker"].FunctionArn()), s.useObjects("models", "GetObject")}
	if name := settings.ProvenanceSecret.In(s.Values); name != "" {
		rights = append(rights, s.readKey(name))
	}
	return rights
}

// readKey allows to read the secret with the name, which has the key that signs outputs. Its ARN ends with six characters that nobody chooses.
func (s *service) readKey(name string) awsiam.PolicyStatement {
	return allow([]string{"secretsmanager:GetSecretValue"}, s.stack.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("secretsmanager"), Resource: jsii.String("secret"), ResourceName: jsii.String(name + "-??????"),
		ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	}))
}

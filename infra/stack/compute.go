package stack

import (
	"slices"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/settings"
)

// systemGiB is the space in GiB that an instance's disk needs in addition to media, for the system
// and the runner's image. CUDA and cuDNN take some GiB of the image.
const systemGiB = 40

// mediaFactor is the size of the scratch space, as a multiple of the largest video. It has space
// for the input, its sound, and an output that may be several times as large.
const mediaFactor = 12

// diskMiBs is the throughput of an instance's disk in MiB/s. The runner's image is unpacked there
// before the first job. With the default of 125 MiB/s that takes twice as long.
const diskMiBs = 250

// maxUpdate is the longest time for which Batch lets jobs go on, on instances that an update of the
// stack replaces.
const maxUpdate = 6 * time.Hour

// Fleet is a job queue with the instances that Batch starts for it, and the job that renders on them.
type Fleet struct {
	prefix         string // of its parts' ids
	duty           lipsync.Duty
	GPU            bool
	Types          *settings.Setting[[]string]
	Spot, OnDemand *settings.Setting[int] // largest numbers of vCPUs

	queue      awsbatch.JobQueue
	definition awsbatch.EcsJobDefinition
}

// Fleets returns the fleets that the settings name. The requests whose engine needs a network have one of their own if they get GPUs.
func (s Settings) Fleets() []*Fleet {
	plain := &Fleet{Types: settings.InstanceTypes, Spot: settings.SpotVCPUs, OnDemand: settings.OnDemandVCPUs}
	if settings.Image.In(s.Values) == "cpu" {
		return []*Fleet{plain}
	}
	plain.duty = lipsync.DoesPlain
	return []*Fleet{plain, {
		prefix: "GPU", duty: lipsync.DoesNeural, GPU: true,
		Types: settings.GPUInstanceTypes, Spot: settings.GPUSpotVCPUs, OnDemand: settings.GPUOnDemandVCPUs,
	}}
}

// plain returns the fleet without GPUs.
func (s *service) plain() *Fleet { return s.fleet(false) }

// neural returns the fleet with GPUs, or nil.
func (s *service) neural() *Fleet { return s.fleet(true) }

func (s *service) fleet(gpu bool) *Fleet {
	for _, f := range s.fleets {
		if f.GPU == gpu {
			return f
		}
	}
	return nil
}

// maxWorkers returns the largest number of runners of the fleet at a time. Without a fleet there are none.
func (s *service) maxWorkers(f *Fleet) int {
	if f == nil {
		return 0
	}
	return f.Spot.In(s.Values)/JobVCPUs + f.OnDemand.In(s.Values)/JobVCPUs
}

// jobQueues returns the stack's outputs with the job queues.
func (s *service) jobQueues() (all []output) {
	for _, f := range s.fleets {
		all = append(all, output{f.prefix + "JobQueueArn", f.queue.JobQueueArn()})
	}
	return all
}

// addCompute adds the instances that Batch starts, from none to the maximum. It starts Spot
// instances first, and on-demand instances if Spot has none.
func (s *service) addCompute() {
	group := awsec2.NewSecurityGroup(s.stack, jsii.String("RunnerGroup"), &awsec2.SecurityGroupProps{
		Vpc:         s.vpc,
		Description: jsii.String("Runners: out, never in"),
	})
	role := awsiam.NewRole(s.stack, jsii.String("InstanceRole"), &awsiam.RoleProps{
		Description: jsii.String("What the ECS agent on an instance may do"),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("ec2.amazonaws.com"), nil),
		ManagedPolicies: &[]awsiam.IManagedPolicy{awsiam.ManagedPolicy_FromAwsManagedPolicyName(
			jsii.String("service-role/AmazonEC2ContainerServiceforEC2Role"))},
	})
	for _, f := range s.fleets {
		s.addInstances(f, group, role)
	}
}

// addInstances adds the job queue and the instances of a fleet, in the security group and with the role.
func (s *service) addInstances(f *Fleet, group awsec2.ISecurityGroup, role awsiam.IRole) {
	template := s.launchTemplate(f)
	f.queue = awsbatch.NewJobQueue(s.stack, jsii.String(f.prefix+"Jobs"), nil)
	for order, kind := range s.computeKinds(f) {
		environment := awsbatch.NewManagedEc2EcsComputeEnvironment(s.stack, jsii.String(f.prefix+kind.id),
			&awsbatch.ManagedEc2EcsComputeEnvironmentProps{
				Vpc:                       s.vpc,
				VpcSubnets:                &awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PUBLIC},
				SecurityGroups:            &[]awsec2.ISecurityGroup{group},
				LaunchTemplate:            template,
				InstanceRole:              role,
				Images:                    &[]*awsbatch.EcsMachineImage{f.machineImage()},
				InstanceTypes:             s.instanceTypes(f),
				UseOptimalInstanceClasses: jsii.Bool(false),
				Spot:                      jsii.Bool(kind.spot),
				MinvCpus:                  jsii.Number(0),
				MaxvCpus:                  jsii.Number(kind.vCPUs),
				UpdateTimeout:             awscdk.Duration_Minutes(jsii.Number(min(settings.JobTimeout.In(s.Values).Minutes(), maxUpdate.Minutes()))),
			})
		// Without a version, Batch always uses the template's first version.
		environment.Node().DefaultChild().(awsbatch.CfnComputeEnvironment).AddPropertyOverride(
			jsii.String("ComputeResources.LaunchTemplate.Version"), template.LatestVersionNumber())
		f.queue.AddComputeEnvironment(environment, jsii.Number(order+1))
	}
}

// computeKind is a way to get instances.
type computeKind struct {
	id    string
	spot  bool
	vCPUs int // largest number
}

// computeKinds returns the kinds that the settings name, the first choice first.
func (s *service) computeKinds(f *Fleet) []computeKind {
	kinds := []computeKind{{"Spot", true, f.Spot.In(s.Values)}, {"OnDemand", false, f.OnDemand.In(s.Values)}}
	return slices.DeleteFunc(kinds, func(k computeKind) bool { return k.vCPUs == 0 })
}

func (s *service) instanceTypes(f *Fleet) *[]awsec2.InstanceType {
	var types []awsec2.InstanceType
	for _, name := range f.Types.In(s.Values) {
		types = append(types, awsec2.NewInstanceType(jsii.String(name)))
	}
	return &types
}

// machineImage returns Amazon's latest image for ECS. CloudFormation finds it at each deployment.
// If Batch chose the image, all instances would start from the image of the day on which the stack
// was made.
func (f *Fleet) machineImage() *awsbatch.EcsMachineImage {
	hardware, kind := awsecs.AmiHardwareType_STANDARD, awsbatch.EcsMachineImageType_ECS_AL2023
	if f.GPU {
		hardware, kind = awsecs.AmiHardwareType_GPU, awsbatch.EcsMachineImageType_ECS_AL2023_NVIDIA
	}
	return &awsbatch.EcsMachineImage{Image: awsecs.EcsOptimizedImage_AmazonLinux2023(hardware, nil), ImageType: kind}
}

// launchTemplate returns the template of a fleet's instances. Their disk has space for the media of the requests that one job does at once.
// Their metadata can be read only with a session token.
func (s *service) launchTemplate(f *Fleet) awsec2.LaunchTemplate {
	media := f.duty.AtOnce() * mediaFactor * int(settings.MaxVideo.In(s.Values)>>20) / 1024
	return awsec2.NewLaunchTemplate(s.stack, jsii.String(f.prefix+"Instance"), &awsec2.LaunchTemplateProps{
		RequireImdsv2: jsii.Bool(true),
		// Batch runs containers on the instance's network, so they are no hop away from the metadata.
		// A runner reads there whether the instance will be reclaimed.
		HttpPutResponseHopLimit: jsii.Number(1),
		UserData:                userData(),
		BlockDevices: &[]*awsec2.BlockDevice{{
			DeviceName: jsii.String("/dev/xvda"), // the root device of Amazon Linux
			Volume: awsec2.BlockDeviceVolume_Ebs(jsii.Number(systemGiB+media), &awsec2.EbsDeviceOptions{
				VolumeType:          awsec2.EbsDeviceVolumeType_GP3,
				Throughput:          jsii.Number(diskMiBs),
				Encrypted:           jsii.Bool(true),
				DeleteOnTermination: jsii.Bool(true),
			}),
		}},
	})
}

// machineModels is an instance's folder with models. All jobs of the instance share it.
const machineModels = "/var/lib/lipsync/models"

// userData returns the commands that configure the ECS agent of an instance. After the notice that
// a Spot instance will be reclaimed in two minutes, the agent begins no further job. It removes the
// container of an ended job, with the scratch files that a killed runner left, after a minute
// instead of three hours. The commands also make a folder that the runner's user may write. Batch
// adds its own parts to user data, so user data must be MIME.
func userData() awsec2.UserData {
	config := awsec2.UserData_ForLinux(nil)
	config.AddCommands(
		jsii.String("echo ECS_ENABLE_SPOT_INSTANCE_DRAINING=true >> /etc/ecs/ecs.config"),
		jsii.String("echo ECS_ENGINE_TASK_CLEANUP_WAIT_DURATION=1m >> /etc/ecs/ecs.config"),
		jsii.String("install -d -o 65532 -g 65532 -m 700 "+machineModels),
	)
	parts := awsec2.NewMultipartUserData(nil)
	parts.AddUserDataPart(config, awsec2.MultipartBody_SHELL_SCRIPT(), jsii.Bool(false))
	return parts
}

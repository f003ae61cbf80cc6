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

	"lipsync/internal/settings"
)

// systemGiB is what an instance's disk needs beside media: the system, and the
// runner's image. CUDA and cuDNN are some GiB of the image.
const systemGiB = 40

// mediaFactor is how many times the largest video the scratch space holds: the
// input, its sound, and an output that may be several times as large.
const mediaFactor = 12

// diskMiBs is how many MiB a second an instance's disk reads and writes. The runner's
// image is unpacked there before the first job: at the 125 of a disk for which nothing
// is said, that takes twice as long.
const diskMiBs = 250

// maxUpdate is how long Batch lets jobs go on, at most, on instances that an
// update of the stack replaces.
const maxUpdate = 6 * time.Hour

// addCompute adds the instances that Batch starts: from none to the maximum,
// Spot first and on-demand where Spot gives none.
func (s *service) addCompute() {
	group := awsec2.NewSecurityGroup(s.stack, jsii.String("RunnerGroup"), &awsec2.SecurityGroupProps{
		Vpc:         s.vpc,
		Description: jsii.String("Runners: out, never in"),
	})
	template := s.launchTemplate()
	role := awsiam.NewRole(s.stack, jsii.String("InstanceRole"), &awsiam.RoleProps{
		Description: jsii.String("What the ECS agent on an instance may do"),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("ec2.amazonaws.com"), nil),
		ManagedPolicies: &[]awsiam.IManagedPolicy{awsiam.ManagedPolicy_FromAwsManagedPolicyName(
			jsii.String("service-role/AmazonEC2ContainerServiceforEC2Role"))},
	})
	s.jobQueue = awsbatch.NewJobQueue(s.stack, jsii.String("Jobs"), nil)
	for order, kind := range s.computeKinds() {
		environment := awsbatch.NewManagedEc2EcsComputeEnvironment(s.stack, jsii.String(kind.id),
			&awsbatch.ManagedEc2EcsComputeEnvironmentProps{
				Vpc:                       s.vpc,
				VpcSubnets:                &awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PUBLIC},
				SecurityGroups:            &[]awsec2.ISecurityGroup{group},
				LaunchTemplate:            template,
				InstanceRole:              role,
				Images:                    &[]*awsbatch.EcsMachineImage{s.machineImage()},
				InstanceTypes:             s.instanceTypes(),
				UseOptimalInstanceClasses: jsii.Bool(false),
				Spot:                      jsii.Bool(kind.spot),
				MinvCpus:                  jsii.Number(0),
				MaxvCpus:                  jsii.Number(kind.vCPUs),
				UpdateTimeout:             awscdk.Duration_Minutes(jsii.Number(min(settings.JobTimeout.In(s.Values).Minutes(), maxUpdate.Minutes()))),
			})
		// Without a version Batch takes the template's first one for ever.
		environment.Node().DefaultChild().(awsbatch.CfnComputeEnvironment).AddPropertyOverride(
			jsii.String("ComputeResources.LaunchTemplate.Version"), template.LatestVersionNumber())
		s.jobQueue.AddComputeEnvironment(environment, jsii.Number(order+1))
	}
}

// computeKind is a way to get instances.
type computeKind struct {
	id    string
	spot  bool
	vCPUs int // at most
}

// computeKinds are those that the settings want, the first choice first.
func (s *service) computeKinds() []computeKind {
	kinds := []computeKind{{"Spot", true, settings.SpotVCPUs.In(s.Values)}, {"OnDemand", false, settings.OnDemandVCPUs.In(s.Values)}}
	return slices.DeleteFunc(kinds, func(k computeKind) bool { return k.vCPUs == 0 })
}

func (s *service) instanceTypes() *[]awsec2.InstanceType {
	var types []awsec2.InstanceType
	for _, name := range settings.InstanceTypes.In(s.Values) {
		types = append(types, awsec2.NewInstanceType(jsii.String(name)))
	}
	return &types
}

// machineImage is Amazon's latest for ECS. CloudFormation looks it up at each
// deployment: if Batch chose it, instances would start from the image of the day on
// which the stack was made, for ever.
func (s *service) machineImage() *awsbatch.EcsMachineImage {
	hardware, kind := awsecs.AmiHardwareType_STANDARD, awsbatch.EcsMachineImageType_ECS_AL2023
	if settings.Image.In(s.Values) == "cuda" {
		hardware, kind = awsecs.AmiHardwareType_GPU, awsbatch.EcsMachineImageType_ECS_AL2023_NVIDIA
	}
	return &awsbatch.EcsMachineImage{Image: awsecs.EcsOptimizedImage_AmazonLinux2023(hardware, nil), ImageType: kind}
}

// launchTemplate gives instances a disk that the media of one job fit on, and
// keeps their metadata from those who can't ask for a session.
func (s *service) launchTemplate() awsec2.LaunchTemplate {
	return awsec2.NewLaunchTemplate(s.stack, jsii.String("Instance"), &awsec2.LaunchTemplateProps{
		RequireImdsv2: jsii.Bool(true),
		// A container is a hop away: a runner asks whether the instance is taken back.
		HttpPutResponseHopLimit: jsii.Number(2),
		UserData:                userData(),
		BlockDevices: &[]*awsec2.BlockDevice{{
			DeviceName: jsii.String("/dev/xvda"), // the root of Amazon Linux
			Volume: awsec2.BlockDeviceVolume_Ebs(jsii.Number(systemGiB+mediaFactor*int(settings.MaxVideo.In(s.Values)>>20)/1024), &awsec2.EbsDeviceOptions{
				VolumeType:          awsec2.EbsDeviceVolumeType_GP3,
				Throughput:          jsii.Number(diskMiBs),
				Encrypted:           jsii.Bool(true),
				DeleteOnTermination: jsii.Bool(true),
			}),
		}},
	})
}

// machineModels is an instance's folder of models, which all its jobs share.
const machineModels = "/var/lib/lipsync/models"

// userData has the ECS agent heed the notice that a Spot instance is to be
// reclaimed, two minutes before: no further job begins there. It has the agent remove
// an ended job's container, and with it the scratch files that a killed runner left,
// after a minute: left to itself, the agent waits for three hours. And it makes a folder
// that the runner's user may write. Batch adds parts of its own to user data, so it
// takes them only as MIME.
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

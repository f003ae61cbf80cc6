package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// systemGiB is what an instance's disk needs beside media: the system, and the
// runner's image, of which CUDA and cuDNN alone are some GiB.
const systemGiB = 40

// mediaFactor is how many times the largest video the scratch space holds: the
// input, its sound, and an output that may be several times as large.
const mediaFactor = 12

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
	var ordered []*awsbatch.OrderedComputeEnvironment
	for _, kind := range []struct {
		id   string
		spot bool
		max  int // vCPUs
	}{{"Spot", true, s.SpotVCPUs}, {"OnDemand", false, s.OnDemandVCPUs}} {
		if kind.max == 0 {
			continue
		}
		ordered = append(ordered, &awsbatch.OrderedComputeEnvironment{
			Order: jsii.Number(len(ordered) + 1),
			ComputeEnvironment: awsbatch.NewManagedEc2EcsComputeEnvironment(s.stack, jsii.String(kind.id),
				&awsbatch.ManagedEc2EcsComputeEnvironmentProps{
					Vpc:                       s.vpc,
					VpcSubnets:                &awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PUBLIC},
					SecurityGroups:            &[]awsec2.ISecurityGroup{group},
					LaunchTemplate:            template,
					InstanceRole:              role,
					Images:                    &[]*awsbatch.EcsMachineImage{{ImageType: s.machineImage()}},
					InstanceTypes:             s.instanceTypes(),
					UseOptimalInstanceClasses: jsii.Bool(false),
					Spot:                      jsii.Bool(kind.spot),
					MinvCpus:                  jsii.Number(0),
					MaxvCpus:                  jsii.Number(kind.max),
				}),
		})
	}
	s.jobQueue = awsbatch.NewJobQueue(s.stack, jsii.String("Jobs"), &awsbatch.JobQueueProps{ComputeEnvironments: &ordered})
}

func (s *service) instanceTypes() *[]awsec2.InstanceType {
	var types []awsec2.InstanceType
	for _, name := range s.InstanceTypes {
		types = append(types, awsec2.NewInstanceType(jsii.String(name)))
	}
	return &types
}

func (s *service) machineImage() awsbatch.EcsMachineImageType {
	if s.Image == "cpu" {
		return awsbatch.EcsMachineImageType_ECS_AL2023
	}
	return awsbatch.EcsMachineImageType_ECS_AL2023_NVIDIA
}

// launchTemplate gives instances a disk that the media of a job fit on, and
// keeps their metadata from those who can't ask for a session.
func (s *service) launchTemplate() awsec2.LaunchTemplate {
	return awsec2.NewLaunchTemplate(s.stack, jsii.String("Instance"), &awsec2.LaunchTemplateProps{
		RequireImdsv2: jsii.Bool(true),
		BlockDevices: &[]*awsec2.BlockDevice{{
			DeviceName: jsii.String("/dev/xvda"), // the root of Amazon Linux
			Volume: awsec2.BlockDeviceVolume_Ebs(jsii.Number(systemGiB+mediaFactor*s.MaxVideoMiB/1024), &awsec2.EbsDeviceOptions{
				VolumeType:          awsec2.EbsDeviceVolumeType_GP3,
				Encrypted:           jsii.Bool(true),
				DeleteOnTermination: jsii.Bool(true),
			}),
		}},
	})
}

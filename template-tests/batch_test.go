package templatetests

import (
	"slices"
	"strings"
	"testing"
)

func TestCompute(t *testing.T) {
	deployed().check(t, []property{
		{"Jobs", "ComputeEnvironmentOrder", `[{"ComputeEnvironment":"Spot.ComputeEnvironmentArn","Order":1},` +
			`{"ComputeEnvironment":"OnDemand.ComputeEnvironmentArn","Order":2}]`},
		{"Spot", "ComputeResources.Type", `"SPOT"`},
		{"Spot", "ComputeResources.AllocationStrategy", `"SPOT_PRICE_CAPACITY_OPTIMIZED"`},
		{"Spot", "ComputeResources.MaxvCpus", `64`},
		{"OnDemand", "ComputeResources.Type", `"EC2"`},
		{"OnDemand", "ComputeResources.MaxvCpus", `16`},
	})
	for _, name := range deployed().all("AWS::Batch::ComputeEnvironment") {
		deployed().check(t, []property{
			{name, "Type", `"managed"`},
			{name, "ServiceRole", ""}, // Batch's own, without which it can't be updated in place
			{name, "ReplaceComputeEnvironment", `false`},
			{name, "UpdatePolicy", `{"JobExecutionTimeoutMinutes":360}`},
			{name, "ComputeResources.MinvCpus", `0`},
			{name, "ComputeResources.InstanceTypes", `["g4dn.xlarge","g5.xlarge","g6.xlarge"]`},
			{name, "ComputeResources.Ec2Configuration", `[{"ImageType":"ECS_AL2023_NVIDIA"}]`},
			{name, "ComputeResources.LaunchTemplate", `{"LaunchTemplateId":"Instance","Version":"Instance.LatestVersionNumber"}`},
			{name, "ComputeResources.SecurityGroupIds", `["RunnerGroup.GroupId"]`},
		})
	}
	wantNames(t, "compute without Spot", other().all("AWS::Batch::ComputeEnvironment"), []string{"OnDemand"})
	other().check(t, []property{
		{"Jobs", "ComputeEnvironmentOrder", `[{"ComputeEnvironment":"OnDemand.ComputeEnvironmentArn","Order":1}]`},
		{"OnDemand", "ComputeResources.InstanceTypes", `["m6i.xlarge","m7i.xlarge","m6a.xlarge","m7a.xlarge"]`},
		{"OnDemand", "ComputeResources.Ec2Configuration", `[{"ImageType":"ECS_AL2023"}]`},
		{"OnDemand", "UpdatePolicy", `{"JobExecutionTimeoutMinutes":60}`},
	})
}

func TestJob(t *testing.T) {
	deployed().check(t, []property{
		{"Runner", "PlatformCapabilities", `["EC2"]`},
		{"Runner", "RetryStrategy", `{"Attempts":10,"EvaluateOnExit":[{"Action":"RETRY","OnExitCode":"75"},` +
			`{"Action":"RETRY","OnStatusReason":"Host EC2*"},{"Action":"EXIT","OnReason":"*"}]}`},
		{"Runner", "ResourceRetentionPolicy", `{"SkipDeregisterOnUpdate":true}`},
		{"Runner", "Timeout.AttemptDurationSeconds", `21600`},
		{"Runner", "ContainerProperties.ResourceRequirements", `[{"Type":"MEMORY","Value":"12288"},{"Type":"VCPU","Value":"4"},{"Type":"GPU","Value":"1"}]`},
		{"Runner", "ContainerProperties.User", `"65532:65532"`},
		{"Runner", "ContainerProperties.Privileged", ""},
		{"Runner", "ContainerProperties.ReadonlyRootFilesystem", `true`},
		{"Runner", "ContainerProperties.MountPoints", `[{"ContainerPath":"/scratch","SourceVolume":"scratch"},{"ContainerPath":"/models","SourceVolume":"models"}]`},
		{"Runner", "ContainerProperties.Volumes", `[{"Host":{},"Name":"scratch"},{"Host":{"SourcePath":"/var/lib/lipsync/models"},"Name":"models"}]`},
		{"Runner", "ContainerProperties.JobRoleArn", `"RunnerRole.Arn"`},
		{"Runner", "ContainerProperties.LogConfiguration", `{"LogDriver":"awslogs","Options":{"awslogs-group":"RunnerLog","awslogs-region":"AWS::Region","awslogs-stream-prefix":"runner"}}`},
	})
	other().check(t, []property{
		{"Runner", "Timeout.AttemptDurationSeconds", `3600`},
		{"Runner", "ContainerProperties.ResourceRequirements", `[{"Type":"MEMORY","Value":"12288"},{"Type":"VCPU","Value":"4"}]`},
	})
}

// TestCores wants the runner to use as many cores as Batch reckons with, so that
// jobs that share an instance don't each take all of it.
func TestCores(t *testing.T) {
	var pairs, needs []struct{ Name, Type, Value string }
	deployed().read(t, "Runner", "ContainerProperties.Environment", &pairs)
	deployed().read(t, "Runner", "ContainerProperties.ResourceRequirements", &needs)
	told, booked := "none", "none"
	for _, p := range pairs {
		if p.Name == "GOMAXPROCS" {
			told = p.Value
		}
	}
	for _, n := range needs {
		if n.Type == "VCPU" {
			booked = n.Value
		}
	}
	if told != booked || told != "4" {
		t.Errorf("the runner uses %s cores of the %s that Batch gives it, want 4 of 4", told, booked)
	}
}

// TestProviders wants a runner with a GPU to be asked for it, so that it logs
// where it computes without.
func TestProviders(t *testing.T) {
	for want, of := range map[string]template{"cuda,cpu": deployed(), "cpu": other()} {
		var pairs []struct{ Name, Value string }
		of.read(t, "Runner", "ContainerProperties.Environment", &pairs)
		if !slices.Contains(pairs, struct{ Name, Value string }{"LIPSYNC_PROVIDERS", want}) {
			t.Errorf("got %v, want LIPSYNC_PROVIDERS %s", pairs, want)
		}
	}
}

// TestInstance wants room for the largest media, and metadata only for sessions.
func TestInstance(t *testing.T) {
	deployed().check(t, []property{
		{"Instance", "LaunchTemplateData.BlockDeviceMappings", `[{"DeviceName":"/dev/xvda","Ebs":` +
			`{"DeleteOnTermination":true,"Encrypted":true,"VolumeSize":100,"VolumeType":"gp3"}}]`},
		{"Instance", "LaunchTemplateData.MetadataOptions.HttpTokens", `"required"`},
	})
	other().check(t, []property{{"Instance", "LaunchTemplateData.BlockDeviceMappings.0.Ebs.VolumeSize", `52`}})
}

// TestUserData wants the ECS agent told to heed the notice to a Spot instance, and
// a folder that the runner's user may write, in the form that Batch takes.
func TestUserData(t *testing.T) {
	data := deployed().get("Instance", "LaunchTemplateData.UserData")
	for _, want := range []string{
		"Content-Type: multipart/mixed", "Content-Type: text/x-shellscript",
		"echo ECS_ENABLE_SPOT_INSTANCE_DRAINING=true >> /etc/ecs/ecs.config",
		"install -d -o 65532 -g 65532 -m 700 /var/lib/lipsync/models",
	} {
		if !strings.Contains(data, want) {
			t.Errorf("got the user data %s, want %s", data, want)
		}
	}
}

// TestNetwork wants ways out, none in, and nothing that costs while idle.
func TestNetwork(t *testing.T) {
	d := deployed()
	for _, kind := range []string{"AWS::EC2::NatGateway", "AWS::EC2::EIP", "AWS::EC2::SecurityGroupIngress"} {
		wantNames(t, kind, d.all(kind), nil)
	}
	wantNames(t, "security groups", d.all("AWS::EC2::SecurityGroup"), []string{"RunnerGroup"})
	d.check(t, []property{{"RunnerGroup", "SecurityGroupIngress", ""}})
	for _, name := range d.all("AWS::EC2::VPCEndpoint") {
		d.check(t, []property{{name, "VpcEndpointType", `"Gateway"`}})
	}
	d.check(t, []property{
		{"NetworkS3", "ServiceName", `"com.amazonaws.AWS::Region.s3"`},
		{"NetworkDynamoDB", "ServiceName", `"com.amazonaws.AWS::Region.dynamodb"`},
	})
}

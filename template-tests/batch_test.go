package templatetests

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/test/check"
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
			{name, "ServiceRole", ""}, // Batch's own role, without which it can't be updated in place
			{name, "ReplaceComputeEnvironment", `false`},
			{name, "UpdatePolicy", `{"JobExecutionTimeoutMinutes":360}`},
			{name, "ComputeResources.MinvCpus", `0`},
			{name, "ComputeResources.InstanceTypes", `["c6i.xlarge","c7i.xlarge","c6a.xlarge","c7a.xlarge","m6i.xlarge","m7i.xlarge","m6a.xlarge","m7a.xlarge"]`},
			{name, "ComputeResources.Ec2Configuration.0.ImageType", `"ECS_AL2023"`},
			{name, "ComputeResources.Subnets.#", `3`},
			{name, "ComputeResources.LaunchTemplate", `{"LaunchTemplateId":"Instance","Version":"Instance.LatestVersionNumber"}`},
			{name, "ComputeResources.SecurityGroupIds", `["RunnerGroup.GroupId"]`},
		})
	}
	check.Names(t, "compute with GPUs, and without Spot for others", other().all("AWS::Batch::ComputeEnvironment"), []string{"GPUOnDemand", "GPUSpot", "OnDemand"})
	other().check(t, []property{
		{"Jobs", "ComputeEnvironmentOrder", `[{"ComputeEnvironment":"OnDemand.ComputeEnvironmentArn","Order":1}]`},
		{"OnDemand", "ComputeResources.InstanceTypes", `["c6i.xlarge","c7i.xlarge","c6a.xlarge","c7a.xlarge","m6i.xlarge","m7i.xlarge","m6a.xlarge","m7a.xlarge"]`},
		{"OnDemand", "ComputeResources.Ec2Configuration.0.ImageType", `"ECS_AL2023"`},
		{"OnDemand", "ComputeResources.LaunchTemplate.LaunchTemplateId", `"Instance"`},
		{"OnDemand", "ComputeResources.Subnets.#", `2`},
		{"OnDemand", "UpdatePolicy", `{"JobExecutionTimeoutMinutes":60}`},
		{"GPUJobs", "ComputeEnvironmentOrder", `[{"ComputeEnvironment":"GPUSpot.ComputeEnvironmentArn","Order":1},{"ComputeEnvironment":"GPUOnDemand.ComputeEnvironmentArn","Order":2}]`},
		{"GPUSpot", "ComputeResources.MaxvCpus", `32`},
		{"GPUOnDemand", "ComputeResources.MaxvCpus", `8`},
	})
	for _, name := range []string{"GPUSpot", "GPUOnDemand"} {
		other().check(t, []property{
			{name, "ComputeResources.InstanceTypes", `["g6.xlarge","g5.xlarge","g6e.xlarge"]`},
			{name, "ComputeResources.Ec2Configuration.0.ImageType", `"ECS_AL2023_NVIDIA"`},
			{name, "ComputeResources.LaunchTemplate.LaunchTemplateId", `"GPUInstance"`},
		})
	}
}

// TestWithoutGPU checks that a stack without GPUs has one job queue, whose runners do all requests.
func TestWithoutGPU(t *testing.T) {
	for _, kind := range []string{"JobQueue", "JobDefinition"} {
		check.Names(t, kind, deployed().all("AWS::Batch::"+kind), []string{map[string]string{"JobQueue": "Jobs", "JobDefinition": "Runner"}[kind]})
	}
	if got := variable(t, deployed(), "Runner", "LIPSYNC_DUTY"); got != "" {
		t.Errorf("the runner does only %q", got)
	}
	deployed().check(t, []property{{"Dispatch", "Environment.Variables.LIPSYNC_MAX_NEURAL_WORKERS", `"0"`}, {"Dispatch", "Environment.Variables.LIPSYNC_NEURAL_QUEUE", ""}})
}

// TestGPU checks that a stack with GPUs has runners for each duty, and that the functions that start and count runners know them.
func TestGPU(t *testing.T) {
	for job, want := range map[string][]string{"Runner": {"plain", "cpu", "false"}, "GPURunner": {"neural", "cuda,cpu", "true"}} {
		for i, name := range []string{"LIPSYNC_DUTY", "LIPSYNC_PROVIDERS", "LIPSYNC_NVIDIA_ENCODE"} {
			if got := variable(t, other(), job, name); got != want[i] {
				t.Errorf("%s: got %s %q, want %q", job, name, got, want[i])
			}
		}
	}
	for _, name := range []string{"Dispatch", "Sweep"} {
		other().check(t, []property{
			{name, "Environment.Variables.LIPSYNC_JOB_QUEUE", `"Jobs.JobQueueArn"`},
			{name, "Environment.Variables.LIPSYNC_JOB_DEFINITION", `"Runner"`},
			{name, "Environment.Variables.LIPSYNC_MAX_WORKERS", `"4"`},
			{name, "Environment.Variables.LIPSYNC_NEURAL_QUEUE", `"GPUJobs.JobQueueArn"`},
			{name, "Environment.Variables.LIPSYNC_NEURAL_DEFINITION", `"GPURunner"`},
			{name, "Environment.Variables.LIPSYNC_MAX_NEURAL_WORKERS", `"10"`},
		})
	}
	for name, of := range map[string]string{"DispatchRoleDefaultPolicy": "PolicyDocument", "JobFailed": "EventPattern", "JobBlocked": "EventPattern"} {
		got := other().get(name, of)
		for _, queue := range []string{`"Jobs.JobQueueArn"`, `"GPUJobs.JobQueueArn"`} {
			if !strings.Contains(got, queue) {
				t.Errorf("%s doesn't know the job queue %s: %s", name, queue, got)
			}
		}
	}
	for _, name := range []string{"Broker", "GetProgress"} {
		other().check(t, []property{{name, "Environment.Variables.LIPSYNC_MAX_NEURAL_WORKERS", `"10"`}})
	}
}

// variable returns the value of a variable in the environment of a job.
func variable(t *testing.T, of template, job, name string) string {
	t.Helper()
	var pairs []struct{ Name, Value string }
	of.read(t, job, "ContainerProperties.Environment", &pairs)
	for _, p := range pairs {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

func TestJob(t *testing.T) {
	deployed().check(t, []property{
		{"Runner", "PlatformCapabilities", `["EC2"]`},
		{"Runner", "RetryStrategy.Attempts", `3`},
		{"Runner", "ResourceRetentionPolicy", `{"SkipDeregisterOnUpdate":true}`},
		{"Runner", "Timeout.AttemptDurationSeconds", `21600`},
		{"Runner", "ContainerProperties.ResourceRequirements", `[{"Type":"MEMORY","Value":"6144"},{"Type":"VCPU","Value":"4"}]`},
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
		{"Runner", "ContainerProperties.ResourceRequirements", `[{"Type":"MEMORY","Value":"6144"},{"Type":"VCPU","Value":"4"}]`},
		{"GPURunner", "Timeout.AttemptDurationSeconds", `3600`},
		{"GPURunner", "ContainerProperties.ResourceRequirements", `[{"Type":"MEMORY","Value":"12288"},{"Type":"VCPU","Value":"4"},{"Type":"GPU","Value":"1"}]`},
		{"GPURunner", "ContainerProperties.JobRoleArn", `"RunnerRole.Arn"`},
	})
}

// TestCores checks that the runner uses as many cores as Batch reserves for it, so that jobs that
// share an instance don't each use all of it.
func TestCores(t *testing.T) {
	var needs []struct{ Type, Value string }
	deployed().read(t, "Runner", "ContainerProperties.ResourceRequirements", &needs)
	told, booked := variable(t, deployed(), "Runner", "GOMAXPROCS"), "none"
	for _, n := range needs {
		if n.Type == "VCPU" {
			booked = n.Value
		}
	}
	if told != booked || told != "4" {
		t.Errorf("the runner uses %s cores of the %s that Batch gives it, want 4 of 4", told, booked)
	}
}

// TestInstance checks that the disk has space for the largest media, and that reading metadata needs
// a session token, which only programs on the instance's own network can get.
func TestInstance(t *testing.T) {
	deployed().check(t, []property{
		{"Instance", "LaunchTemplateData.BlockDeviceMappings", `[{"DeviceName":"/dev/xvda","Ebs":` +
			`{"DeleteOnTermination":true,"Encrypted":true,"Throughput":250,"VolumeSize":100,"VolumeType":"gp3"}}]`},
		{"Instance", "LaunchTemplateData.MetadataOptions", `{"HttpPutResponseHopLimit":1,"HttpTokens":"required"}`},
	})
	other().check(t, []property{
		{"Instance", "LaunchTemplateData.BlockDeviceMappings.0.Ebs.VolumeSize", `52`},
		{"GPUInstance", "LaunchTemplateData.BlockDeviceMappings.0.Ebs.VolumeSize", `88`}, // for four requests
		{"GPUInstance", "LaunchTemplateData.MetadataOptions", `{"HttpPutResponseHopLimit":1,"HttpTokens":"required"}`},
	})
}

// TestUserData checks that the ECS agent obeys the notice to a Spot instance, and that it deletes the
// files of a killed job. There must be a folder that the runner's user may write. The user data must
// have the form that Batch requires.
func TestUserData(t *testing.T) {
	data := deployed().get("Instance", "LaunchTemplateData.UserData")
	for _, want := range []string{
		"Content-Type: multipart/mixed", "Content-Type: text/x-shellscript",
		"echo ECS_ENABLE_SPOT_INSTANCE_DRAINING=true >> /etc/ecs/ecs.config",
		"echo ECS_ENGINE_TASK_CLEANUP_WAIT_DURATION=1m >> /etc/ecs/ecs.config",
		"install -d -o 65532 -g 65532 -m 700 /var/lib/lipsync/models",
	} {
		if !strings.Contains(data, want) {
			t.Errorf("got the user data %s, want %s", data, want)
		}
	}
}

// TestNetwork checks that the network lets connections out and none in, and that it has no part that
// costs money without work.
func TestNetwork(t *testing.T) {
	d := deployed()
	for _, kind := range []string{"AWS::EC2::NatGateway", "AWS::EC2::EIP", "AWS::EC2::SecurityGroupIngress"} {
		check.Names(t, kind, d.all(kind), nil)
	}
	check.Names(t, "security groups", d.all("AWS::EC2::SecurityGroup"), []string{"RunnerGroup"})
	d.check(t, []property{{"RunnerGroup", "SecurityGroupIngress", ""}})
	for _, name := range d.all("AWS::EC2::VPCEndpoint") {
		d.check(t, []property{{name, "VpcEndpointType", `"Gateway"`}})
	}
	d.check(t, []property{
		{"NetworkS3", "ServiceName", `"com.amazonaws.AWS::Region.s3"`},
		{"NetworkDynamoDB", "ServiceName", `"com.amazonaws.AWS::Region.dynamodb"`},
	})
}

// TestRetries applies the job definition's rules, of which Batch allows five, to every end of a
// job that Batch knows.
func TestRetries(t *testing.T) {
	const ended = "Essential container in task exited"
	for _, c := range []struct{ exit, statusReason, reason, want string }{
		{"0", ended, "", "RETRY"}, // Batch asks only about attempts that failed
		{"1", ended, "", "EXIT"},
		{"2", ended, "", "EXIT"},   // a panic of Go
		{"127", ended, "", "EXIT"}, // no such program
		{"137", ended, "OutOfMemoryError: Container killed due to memory usage", "EXIT"},
		{"139", ended, "", "EXIT"},
		{"143", ended, "", "EXIT"},
		{"137", "Host EC2 (instance i-0123456789abcdef0) terminated.", "", "RETRY"},
		{"", "Host EC2 (instance i-0123456789abcdef0) terminated.", "", "RETRY"},
		{"", "Task failed to start", "CannotPullContainerError: pull image manifest has been retried 5 time(s)", "RETRY"},
		{"", "Task failed to start", "DockerTimeoutError: Could not transition to created; timed out after waiting 4m0s", "RETRY"},
		{"", "", "DockerTimeoutError: Could not transition to started; timed out after waiting 3m0s", "RETRY"},
		{"", "", "CannotCreateContainerError: API error (400): devices", "RETRY"},
		{"128", "Task failed to start", "CannotStartContainerError: Error response from daemon: failed to create task: nvidia-container-cli", "RETRY"},
		{"", "", "", "RETRY"},
	} {
		if got := action(t, map[string]string{"OnExitCode": c.exit, "OnStatusReason": c.statusReason, "OnReason": c.reason}); got != c.want {
			t.Errorf("exit code %q, status %q, container %q: got %s, want %s", c.exit, c.statusReason, c.reason, got, c.want)
		}
	}
}

// action returns the action that the job definition's rules give for an attempt that failed. The
// first rule whose conditions all hold decides. A star at the end matches any text.
func action(t *testing.T, attempt map[string]string) string {
	t.Helper()
	var rules []map[string]string
	deployed().read(t, "Runner", "RetryStrategy.EvaluateOnExit", &rules)
	if len(rules) > 5 {
		t.Fatalf("got %d rules, of which Batch takes 5", len(rules))
	}
	for _, rule := range rules {
		holds := true
		for condition, pattern := range rule {
			if condition == "Action" {
				continue
			}
			start, open := strings.CutSuffix(pattern, "*")
			value := attempt[condition]
			holds = holds && value != "" && (value == pattern || open && strings.HasPrefix(value, start))
		}
		if holds {
			return rule["Action"]
		}
	}
	return "RETRY"
}

// TestMachineImage checks that the machine's image is looked up when the stack is deployed.
func TestMachineImage(t *testing.T) {
	for kind, of := range map[string]template{"": deployed(), "gpu/": other()} {
		parameter := strings.Trim(of.get(map[string]string{"": "OnDemand", "gpu/": "GPUOnDemand"}[kind], "ComputeResources.Ec2Configuration.0.ImageIdOverride"), `"`)
		got := of.Parameters[parameter]
		want := map[string]any{
			"Type": "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", "Default": "/aws/service/ecs/optimized-ami/amazon-linux-2023/" + kind + "recommended/image_id",
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %v for %q, want %v", got, parameter, want)
		}
	}
}

// TestZones checks that subnets stay the same when zones are added, and that with two zones they
// are those of older stacks.
func TestZones(t *testing.T) {
	for _, c := range []struct {
		of     template
		blocks []string
	}{
		{deployed(), []string{"10.0.0.0/20", "10.0.16.0/20", "10.0.32.0/20"}},
		{unmade(), []string{"10.0.0.0/20", "10.0.16.0/20", "10.0.32.0/20"}},
		{other(), []string{"10.0.0.0/17", "10.0.128.0/17"}},
	} {
		subnets := c.of.all("AWS::EC2::Subnet")
		if len(subnets) != len(c.blocks) {
			t.Fatalf("got the subnets %q, want %d", subnets, len(c.blocks))
		}
		for i, name := range subnets {
			c.of.check(t, []property{
				{name, "CidrBlock", `"` + c.blocks[i] + `"`},
				{name, "AvailabilityZone", map[bool]string{true: fmt.Sprintf(`"us-east-1%c"`, "fd"[i%2]), false: fmt.Sprintf(`" part %d"`, i)}[len(c.blocks) == 2]},
			})
		}
	}
}

// TestTags checks that a bill can be split by stacks, with the instances that Batch starts.
func TestTags(t *testing.T) {
	const tag = `{"Key":"lipsync:stack","Value":"Lipsync"}`
	if got := deployed().get("Media", "Tags"); !strings.Contains(got, tag) {
		t.Errorf("the bucket has the tags %s", got)
	}
	var kinds []struct {
		ResourceType string
		Tags         []struct{ Key, Value string }
	}
	deployed().read(t, "Instance", "LaunchTemplateData.TagSpecifications", &kinds)
	for _, kind := range []string{"instance", "volume"} {
		if !slices.ContainsFunc(kinds, func(k struct {
			ResourceType string
			Tags         []struct{ Key, Value string }
		}) bool {
			return k.ResourceType == kind && slices.Contains(k.Tags, struct{ Key, Value string }{"lipsync:stack", "Lipsync"})
		}) {
			t.Errorf("each %s has the tags of %v", kind, kinds)
		}
	}
}

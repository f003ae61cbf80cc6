package settings

import (
	"net/url"
	"time"
)

// What is set only on AWS.
var (
	Name = add(Setting[string]{Kind: matching(`[A-Za-z][A-Za-z0-9-]{0,39}`, "letters, digits and dashes, a letter first, at most 40"), Row: Row{
		Name: "name", Where: Stack, Default: "Lipsync",
		Help: "Name of the stack", More: "A second one in the same account and region counts into the same metrics.",
	}})
	KeepData = add(Setting[bool]{Kind: spelledBoolean(), Row: Row{
		Name: "keep-data", Where: Stack, Default: "true",
		Help: "Table, bucket and users outlive the stack, which refuses to be deleted",
	}})
	Image = add(Setting[string]{Kind: oneOf("cpu", "cuda"), Row: Row{
		Name: "image", Where: Stack, Default: "cpu",
		Help: "Which runner renders: cpu, which is enough for the engine warp, or cuda, on instances with a GPU",
	}})
	Zones = add(Setting[int]{Kind: integerWithin(1, 6), Row: Row{
		Name: "zones", Where: Stack, Default: "3",
		Help: "How many availability zones of the region the instances are in",
		More: "Where an account has fewer, such as in us-west-1, name as many. 2 can't become more later, since each then has half of the addresses.",
	}})
	InstanceTypes = add(Setting[[]string]{
		Kind:           words(`[a-z][a-z0-9-]*\.[a-z0-9-]+`, "a type such as g5.xlarge"),
		ContextDefault: defaultInstances,
		Row: Row{
			Name: "instance-types", Where: Stack, Without: "`" + withCPU + "`; with `image=cuda` `" + withGPU + "`",
			Help: "Instances that Batch may start: x86, with 4 vCPUs and at least 16 GiB each",
			More: "With less no job fits. Use types of one job each: with more vCPUs several run, each on 4 cores, on one disk, which is made for one.",
		},
	})
	SpotVCPUs = add(Setting[int]{Kind: integerWithin(0, 10_000), Row: Row{
		Name: "spot-vcpus", Where: Stack, Default: "64",
		Help: "How many vCPUs of Spot instances run at most; 0 for none",
	}})
	OnDemandVCPUs = add(Setting[int]{Kind: integerWithin(0, 10_000), Row: Row{
		Name: "on-demand-vcpus", Where: Stack, Default: "16",
		Help: "How many vCPUs of on-demand instances run at most, once there are no more Spot instances; 0 for none",
	}})
	JobTimeout = add(Setting[time.Duration]{Kind: duration(1, ""), InStack: durationWithin(10*time.Minute, 7*day), Row: Row{
		Name: "job-timeout", Where: Stack | Runner, Default: "6h", Example: "TIME",
		Help: "When Batch kills a job; in the second half of the time its runner begins no other request",
	}})
	RequestRate = add(Setting[int]{Kind: integerWithin(1, 10_000), Row: Row{
		Name: "request-rate", Where: Stack, Default: "500",
		Help: "Calls a second of all clients, and twice that in a burst",
	}})
	SelfSignUp = add(Setting[bool]{Kind: spelledBoolean(), Row: Row{
		Name: "self-sign-up", Where: Stack, Default: "false",
		Help: "Strangers may make themselves users of the dashboard",
	}})
	LogDays = add(Setting[int]{Kind: days(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653), Row: Row{
		Name: "log-days", Where: Stack, Default: "30",
		Help: "How many days logs are kept: a number that CloudWatch knows",
	}})
	AlarmEmail = add(Setting[string]{Kind: matching(`|[^@\s]+@[^@\s]+\.[^@\s]+`, "an e-mail address"), Row: Row{
		Name: "alarm-email", Where: Stack, Without: "nobody",
		Help: "Address that gets the alarms",
	}})
)

// What holds for one deployment only.
var (
	FirstDeploy = add(Setting[bool]{Kind: spelledBoolean(), Row: Row{
		Name: "first-deploy", Where: Stack, Default: "false",
		Help: "Deploy without protection of data, so that AWS can remove a stack that it could not make",
		More: "`make deploy` gives it for a stack that is new, and then deploys once more without.",
	}})
	Repository = add(Setting[string]{Kind: matching(`.+`, aPath), Row: Row{
		Name: "repository", Where: Stack, Default: "..",
		Help: "Path of this repository's root, for tests",
	}})
	FunctionsFolder = add(Setting[string]{Kind: matching(`.+`, aPath), Row: Row{
		Name: "functions", Where: Stack, Default: "../dist/functions",
		Help: "Path of the built functions, for tests",
	}})
	Architecture = add(Setting[string]{Kind: oneOf("arm64", "x86_64"), Row: Row{
		Name: "architecture", Where: Stack, Default: "arm64",
		Help: "Processor of the functions, arm64 or x86_64, for tests",
	}})
)

// ForOneDeployment are the settings that hold for one deployment only, and aren't kept with the stack.
func ForOneDeployment() []Entry {
	return []Entry{FirstDeploy, Repository, FunctionsFolder, Architecture}
}

// The stack passes these settings to its functions and runners.
var (
	Table         = add(Setting[string]{Kind: anyText(), Row: Row{Name: "table", Where: Functions | Runner, Help: "Table of the records"}})
	Bucket        = add(Setting[string]{Kind: anyText(), Row: Row{Name: "bucket", Where: Functions | Runner, Help: "Bucket of the media"}})
	Scratch       = add(Setting[string]{Kind: anyText(), Row: Row{Name: "scratch", Where: Runner, Help: "Folder for the files of running work"}})
	QueueURL      = add(Setting[string]{Kind: anyText(), Row: Row{Name: "queue-url", Where: Functions, Help: "Queue of hints that requests wait"}})
	SignerRole    = add(Setting[string]{Kind: anyText(), Row: Row{Name: "signer-role", Where: Functions, Optional: true, Help: "Role that signs URLs"}})
	SignerPool    = add(Setting[string]{Kind: anyText(), Row: Row{Name: "signer-pool", Where: Functions, Optional: true, Help: "Identity pool that vouches for a function to that role"}})
	JobQueue      = add(Setting[string]{Kind: anyText(), Row: Row{Name: "job-queue", Where: Functions, Help: "Job queue of Batch"}})
	JobDefinition = add(Setting[string]{Kind: anyText(), Row: Row{Name: "job-definition", Where: Functions, Help: "Job definition of the runner"}})
	MaxWorkers    = add(Setting[int]{Kind: integer(1, ""), Row: Row{Name: "max-workers", Where: Functions, Help: "Most runners at a time"}})
	Issuer        = add(Setting[*url.URL]{Kind: address(), Row: Row{Name: "issuer", Where: Functions, Help: "Who signs people in, as OpenID Connect names it"}})
	ClientID      = add(Setting[string]{Kind: anyText(), Row: Row{Name: "client-id", Where: Functions, Help: "Name of the dashboard there"}})
	SignOutURL    = add(Setting[*url.URL]{Kind: address(), Row: Row{Name: "sign-out-url", Where: Functions, Help: "Page there that signs people out"}})
	SecretARN     = add(Setting[string]{Kind: anyText(), Row: Row{Name: "secret-arn", Where: Functions, Help: "Secret that seals the dashboard's cookies"}})
)

// Instances that Batch may start unless an operator names others: the smallest that a job
// fits, of some generations, so that Spot has a choice.
const (
	withCPU = "m6i.xlarge,m7i.xlarge,m6a.xlarge,m7a.xlarge"
	withGPU = "g4dn.xlarge,g5.xlarge,g6.xlarge"
)

func defaultInstances(v *Values) string {
	if Image.In(v) == "cuda" {
		return withGPU
	}
	return withCPU
}

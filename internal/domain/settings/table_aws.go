package settings

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// Settings that exist only on AWS.
var (
	Name = add(Setting[string]{Kind: matching(`[A-Za-z][A-Za-z0-9-]{0,39}`, "letters, digits and dashes, a letter first, at most 40"), Row: Row{
		Name: "name", Where: Stack | Functions | Runner, Default: "Lipsync",
		Help: "Name of the stack, and of its metrics in CloudWatch",
	}})
	KeepData = add(Setting[bool]{Kind: spelledBoolean(), Row: Row{
		Name: "keep-data", Where: Stack, Default: "true",
		Help: "Protect the stack from deletion, and keep table, bucket and users if it is deleted all the same",
	}})
	Image = add(Setting[string]{Kind: oneOf("cpu", "cuda"), Row: Row{
		Name: "image", Where: Stack, Default: "cpu",
		Help: "Image of the runners of requests whose engine needs a network: cuda gives these requests a job queue of their own, of instances with a GPU",
		More: "It needs such an engine among `engines`. Instances without a GPU render all others.",
	}})
	Zones = add(Setting[int]{Kind: integerWithin(1, 6), Row: Row{
		Name: "zones", Where: Stack, Default: "3",
		Help: "Number of availability zones for the instances",
		More: "Set fewer where your account has fewer, as in us-west-1. 2 can't become more later, since each of the two has half of the addresses.",
	}})
	ZoneNames = add(Setting[[]string]{Kind: noneOr(words(`[a-z]{2}-[a-z-]+-[0-9][a-z]`, "a zone such as us-east-1a")), Row: Row{
		Name: "zone-names", Where: Stack, Without: "those with the most of `instanceTypes`, which `make deploy` finds, with `image=cuda` of `gpuInstanceTypes` first; else the region's first `zones`",
		Help: "Names of the availability zones, as many as `zones`",
	}})
	InstanceTypes = add(Setting[[]string]{
		Kind:           instanceTypes(),
		ContextDefault: defaultInstances,
		Row: Row{
			Name: "instance-types", Where: Stack, Without: "`" + withCPU + "`; with `image=cpu` and engines besides warp `" + withNet + "`",
			Help: "Types of instances without a GPU that Batch may start: x86, with 4 vCPUs each, and at least 8 GiB, or 16 GiB if they compute networks of engines",
			More: "On a larger one several jobs, each on 4 cores, share a disk of the size for one.",
		},
	})
	SpotVCPUs = add(Setting[int]{Kind: integerWithin(0, 100_000), Row: Row{
		Name: "spot-vcpus", Where: Stack, Default: "64",
		Help: "Largest number of vCPUs of Spot instances without a GPU; 0 for none",
	}})
	OnDemandVCPUs = add(Setting[int]{Kind: integerWithin(0, 100_000), Row: Row{
		Name: "on-demand-vcpus", Where: Stack, Default: "16",
		Help: "Largest number of vCPUs of on-demand instances without a GPU, which start if there are no more Spot instances; 0 for none",
	}})
	GPUInstanceTypes = add(Setting[[]string]{Kind: instanceTypes(), Row: Row{
		Name: "gpu-instance-types", Where: Stack, Default: "g6.xlarge,g5.xlarge,g6e.xlarge",
		Help: "Types of instances with a GPU that Batch may start with `image=cuda`: x86, with 4 vCPUs, 16 GiB and one GPU each, or more",
		More: "On a larger instance several jobs share a disk of the size for one. On demand Batch takes the cheapest for a vCPU, so [`g4dn.xlarge`](costs.md#with-a-network-of-full-size) isn't among them.",
	}})
	GPUSpotVCPUs = add(Setting[int]{Kind: integerWithin(0, 100_000), Row: Row{
		Name: "gpu-spot-vcpus", Where: Stack, Default: "32",
		Help: "Largest number of vCPUs of Spot instances with a GPU; 0 for none",
	}})
	GPUOnDemandVCPUs = add(Setting[int]{Kind: integerWithin(0, 100_000), Row: Row{
		Name: "gpu-on-demand-vcpus", Where: Stack, Default: "16",
		Help: "Largest number of vCPUs of on-demand instances with a GPU, which start if there are no more Spot instances; 0 for none",
	}})
	JobTimeout = add(Setting[time.Duration]{Kind: duration(1, ""), InStack: durationWithin(10*time.Minute, 7*day), Row: Row{
		Name: "job-timeout", Where: Stack | Runner, Default: "6h", Example: "TIME",
		Help: "Longest time of a job, after which Batch kills it; in the second half of this time its runner begins no request",
	}})
	LambdaQuota = add(Setting[int]{Kind: integerWithin(1, 10_000_000), Row: Row{
		Name: "lambda-quota", Where: Stack, Default: "10", Without: "the account's, which `make deploy` reads; else 10, as in new accounts",
		Help: "Concurrent calls of functions that Lambda allows the account in the region",
		More: "See [quotas](../infra/README.md#quotas-for-instances).",
	}})
	SmallWorkers = add(Setting[int]{
		Kind: integerWithin(0, 10_000), ContextDefault: defaultSmall,
		Row: Row{
			Name: "small-workers", Where: Stack | Functions, Default: "0", Optional: true, Without: "half of `lambdaQuota`, 500 at most; below 200 a fifth",
			Help: "Largest number of small workers: invocations of the function that does small requests, which start in seconds; 0 for none",
			More: "See [decisions](decisions.md#how-many-small-workers).",
		},
	})
	RequestRate = add(Setting[int]{Kind: integerWithin(1, 10_000), Row: Row{
		Name: "request-rate", Where: Stack, Default: "500",
		Help: "Calls a second of all clients together, and twice that in a burst",
	}})
	AddressRate = add(Setting[int]{Kind: zeroOr(10, 100_000_000), Row: Row{ // AWS takes no less
		Name: "address-rate", Where: Stack, Default: "0",
		Help: "Calls of one address in a minute, 10 or more, as a firewall (WAF) counts them; 0 for none",
	}})
	HealthCheck = add(Setting[bool]{Kind: spelledBoolean(), Row: Row{
		Name: "health-check", Where: Stack, Default: "false",
		Help: "Let Route 53 call the API's health from three continents each 30 s, and raise an alarm when it can't",
		More: "For stacks in us-east-1, since Route 53 tells only alarms there.",
	}})
	MonthlyBudget = add(Setting[int]{Kind: integerWithin(0, 100_000_000), Row: Row{
		Name: "monthly-budget", Where: Stack, Default: "0",
		Help: "US dollars that the whole AWS account may cost in a month before an alarm; 0 for none",
	}})
	SelfSignUp = add(Setting[bool]{Kind: spelledBoolean(), Row: Row{
		Name: "self-sign-up", Where: Stack, Default: "false",
		Help: "Let anyone sign up as a user of the dashboard",
	}})
	LogDays = add(Setting[int]{Kind: days(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653), Row: Row{
		Name: "log-days", Where: Stack, Default: "30",
		Help: "Number of days that logs are kept: one that CloudWatch accepts",
	}})
	Domain = add(Setting[string]{Kind: matching(`|`+domainName, aDomain), Row: Row{
		Name: "domain", Where: Stack, Without: "AWS's own",
		Help: "Domain of the API and the dashboard, such as lipsync.example.com",
		More: "It needs `certificate`: see [a domain of your own](../infra/README.md#a-domain-of-your-own).",
	}})
	Certificate = add(Setting[string]{Kind: matching(`|`+certificateARN, aCertificate), Row: Row{
		Name: "certificate", Where: Stack, Without: "none",
		Help: "ARN of the certificate for `domain`, in Certificate Manager of the stack's region",
	}})
	SignInDomain = add(Setting[string]{Kind: matching(`|`+domainName, aDomain), Row: Row{
		Name: "sign-in-domain", Where: Stack, Without: "Cognito's own",
		Help: "Domain of the pages on which people sign in, such as auth.example.com",
	}})
	SignInCertificate = add(Setting[string]{Kind: matching(`|`+certificateARN, aCertificate), Row: Row{
		Name: "sign-in-certificate", Where: Stack, Without: "none",
		Help: "ARN of the certificate for `signInDomain`, in Certificate Manager of us-east-1",
	}})
	EventBus = add(Setting[string]{Kind: matching(`|`+busName+`|`+busARN, aBus), Row: Row{
		Name: "event-bus", Where: Stack | Functions, Without: "none",
		Help: "Bus of EventBridge that gets the events of all accounts, by its name or its ARN, in the stack's region",
		More: "See [events on a bus](../infra/README.md#events-on-a-bus).",
	}})
	AlarmEmail = add(Setting[string]{Kind: matching(`|[^@\s]+@[^@\s]+\.[^@\s]+`, "an e-mail address"), Row: Row{
		Name: "alarm-email", Where: Stack, Without: "nobody",
		Help: "E-mail address for the alarms",
	}})
)

// Kinds of names on AWS, as regular expressions and for people.
const (
	domainName     = `(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}`
	aDomain        = "a domain name in small letters, such as lipsync.example.com"
	certificateARN = `arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate/[A-Za-z0-9-]+`
	aCertificate   = "the ARN of a certificate, such as arn:aws:acm:us-east-1:123456789012:certificate/12345678-1234-1234-1234-123456789012"
)

// Names of buses of EventBridge, as regular expressions and for people.
const (
	busName = `[A-Za-z0-9._-]{1,256}`
	busARN  = `arn:aws[a-z-]*:events:[a-z0-9-]+:[0-9]{12}:event-bus/` + busName
	aBus    = "the name of a bus, such as default, or an ARN such as arn:aws:events:us-east-1:123456789012:event-bus/main"
)

// These are keys of CDK's context that no operator sets. They hold for one deployment, and aren't kept with the stack: FirstDeploy is for deploy, the others
// are for tests.
var (
	// FirstDeploy deploys without protection of data, so that AWS can remove a stack that it failed to make.
	FirstDeploy = add(Setting[bool]{Kind: spelledBoolean(), Row: Row{Name: "first-deploy", Where: Passing, Default: "false"}})
	// Repository is the path of this repository's root.
	Repository = add(Setting[string]{Kind: matching(`.+`, aPath), Row: Row{Name: "repository", Where: Passing, Default: ".."}})
	// FunctionsFolder is the path of the built functions.
	FunctionsFolder = add(Setting[string]{Kind: matching(`.+`, aPath), Row: Row{Name: "functions", Where: Passing, Default: "../dist/functions"}})
	// Architecture is the processor of the functions.
	Architecture = add(Setting[string]{Kind: oneOf("arm64", "x86_64"), Row: Row{Name: "architecture", Where: Passing, Default: "arm64"}})
)

// The stack passes these settings to its functions and runners.
var (
	Table            = add(Setting[string]{Kind: anyText(), Row: Row{Name: "table", Where: Functions}}) // table of the records
	Bucket           = add(Setting[string]{Kind: anyText(), Row: Row{Name: "bucket", Where: Functions | Runner, Help: "Bucket of the media"}})
	Scratch          = add(Setting[string]{Kind: anyText(), Row: Row{Name: "scratch", Where: Runner, Help: "Folder for the files of running work"}})
	QueueURL         = add(Setting[string]{Kind: anyText(), Row: Row{Name: "queue-url", Where: Functions}})      // queue of hints that a request waits
	DeliveriesURL    = add(Setting[string]{Kind: anyText(), Row: Row{Name: "deliveries-url", Where: Functions}}) // queue of deliveries to webhooks that are due
	MediaRole        = add(Setting[string]{Kind: anyText(), Row: Row{Name: "media-role", Where: Functions}})     // role of which runners get sessions for the media of one request
	BrokerFunction   = add(Setting[string]{Kind: anyText(), Row: Row{Name: "broker-function", Where: Runner, Help: "Function by which runners do requests"}})
	SignerRole       = add(Setting[string]{Kind: anyText(), Row: Row{Name: "signer-role", Where: Functions, Optional: true}}) // role that signs URLs
	SignerPool       = add(Setting[string]{Kind: anyText(), Row: Row{Name: "signer-pool", Where: Functions, Optional: true}}) // identity pool through which a function assumes that role
	Duty             = add(Setting[lipsync.Duty]{Kind: duty(), Row: Row{Name: "duty", Where: Runner, Optional: true, Help: "Which requests the runner does: small ones, as the function does; plain, without networks of engines; or neural, with them; else all"}})
	JobQueue         = add(Setting[string]{Kind: anyText(), Row: Row{Name: "job-queue", Where: Functions}})                         // job queue of Batch
	JobDefinition    = add(Setting[string]{Kind: anyText(), Row: Row{Name: "job-definition", Where: Functions}})                    // job definition of the runner
	NeuralQueue      = add(Setting[string]{Kind: anyText(), Row: Row{Name: "neural-queue", Where: Functions, Optional: true}})      // job queue of Batch with GPUs
	NeuralDefinition = add(Setting[string]{Kind: anyText(), Row: Row{Name: "neural-definition", Where: Functions, Optional: true}}) // job definition of the runner with a GPU
	SmallFunction    = add(Setting[string]{Kind: anyText(), Row: Row{Name: "small-function", Where: Functions, Optional: true}})    // function that does small requests
	MaxWorkers       = add(Setting[int]{Kind: integer(1, ""), Row: Row{Name: "max-workers", Where: Functions}})                     // largest number of runners without a GPU at a time
	MaxNeuralWorkers = add(Setting[int]{Kind: integer(0, ""), Row: Row{Name: "max-neural-workers", Where: Functions}})              // largest number of runners with a GPU at a time
	Issuer           = add(Setting[*url.URL]{Kind: address(), Row: Row{Name: "issuer", Where: Functions}})                          // issuer, in OpenID Connect, of the provider that signs people in
	ClientID         = add(Setting[string]{Kind: anyText(), Row: Row{Name: "client-id", Where: Functions}})                         // client id of the dashboard at that provider
	SignOutURL       = add(Setting[*url.URL]{Kind: address(), Row: Row{Name: "sign-out-url", Where: Functions}})                    // page of that provider that signs people out
	SecretARN        = add(Setting[string]{Kind: anyText(), Row: Row{Name: "secret-arn", Where: Functions}})                        // secret that encrypts the dashboard's cookies
)

// Default types of instances: the smallest that a job fits on, of several generations, so that Spot
// has a choice.
const (
	withCPU = "c6i.xlarge,c7i.xlarge,c6a.xlarge,c7a.xlarge," + withNet
	withNet = "m6i.xlarge,m7i.xlarge,m6a.xlarge,m7a.xlarge" // 16 GiB, for networks
)

// ReservingQuota is the account's quota of concurrent calls of functions from which on some functions get calls of their own.
const (
	ReservingQuota = 200

	DispatchCalls    = 2
	SweepCalls       = 2  // a sweep ends before the next begins; the second is for AWS's own retries
	LeastBrokerCalls = 10 // it gets more if there may be many workers

	// Unreserved is left for these functions and, as AWS wants, for those without calls of their own.
	Unreserved = 100 + DispatchCalls + SweepCalls + LeastBrokerCalls
)

// defaultSmall returns the default of SmallWorkers. Without reserved invocations they must leave most of the quota to the API.
func defaultSmall(v *Values) string {
	quota := LambdaQuota.In(v)
	if quota < ReservingQuota {
		return strconv.Itoa(quota / 5)
	}
	return strconv.Itoa(min(quota/2, quota-Unreserved, 500))
}

func defaultInstances(v *Values) string {
	if NeedsNetwork(v) && Image.In(v) == "cpu" {
		return withNet
	}
	return withCPU
}

// NeedsNetwork reports whether any of the stack's engines needs a network.
func NeedsNetwork(v *Values) bool { return slices.ContainsFunc(Engines.In(v), order.NeedsNetwork) }

package settings

import (
	"log/slog"
	"net/url"
	"strings"
	"time"

	"lipsync/internal/domain/order"
)

// Descriptions of valid values that several settings have.
const (
	oneOrMore     = "1 or more"
	moreThanZero  = "more than 0"
	aPath         = "a path"
	sizeAboveZero = "a size above 0, such as 5GiB, 500MiB or 1048576"
	day           = 24 * time.Hour
	mebibyte      = Size(1 << 20)
	gibibyte      = Size(1 << 30)
)

// Settings of data and addresses.
var (
	Data = add(Setting[string]{Kind: anyText(), Row: Row{
		Name: "data", Where: Machine, Example: "DIR", Without: "`~/.local/share/lipsync`",
		Help: "Folder of the service's data, made if it is missing", More: "Only one server at a time can use it.",
	}})
	Addr = add(Setting[string]{Kind: hostPort("127.0.0.1:8080"), Row: Row{
		Name: "addr", Where: Machine, Default: "127.0.0.1:8080", Example: "HOST:PORT",
		Help: "Address of the API and the dashboard; port 0 takes any free port",
	}})
	MetricsAddr = add(Setting[string]{Kind: hostPortOrNone("127.0.0.1:9090"), Row: Row{
		Name: "metrics-addr", Where: Machine, Without: "nowhere", Example: "HOST:PORT",
		Help: "Address of GET /metrics for Prometheus and of GET /readyz, which need no key",
		More: "See [monitoring](../monitoring/README.md).",
	}})
	PublicURL = add(Setting[*url.URL]{Kind: site(), Row: Row{
		Name: "public-url", Where: Machine | Functions, Without: "the address of each call", Example: "URL",
		Help: "Address at which clients reach the service, such as that of a proxy, for the links in answers",
		More: "`https://HOST`, with no path.",
	}})
	CORSOrigins = add(Setting[[]string]{Kind: origins(), InStack: words(`\*|https?://[^/\s]+`, "* or an origin such as https://example.com"), Row: Row{
		Name: "cors-origins", Where: Machine | Stack | Functions, Default: "*", Example: "ORIGIN",
		Help: "Web sites whose pages may call the API, send uploads and fetch outputs; * for all",
		More: "These need an API key or a signed URL, which no browser sends by itself. The dashboard is open to no other site.",
	}})
	LogLevel = add(Setting[slog.Level]{Kind: level(), Row: Row{
		Name: "log-level", Where: Machine, Default: "info", Example: "LEVEL",
		Help: "Lowest level that is logged: debug, info, warn or error",
	}})
	LogFormat = add(Setting[string]{Kind: oneOf("text", "json"), Row: Row{
		Name: "log-format", Where: Machine, Default: "text", Example: "FORMAT", Choices: []string{"text", "json"},
		Help: "Form of a line of the log: text, as key=value, or json",
	}})
	TrustedProxies = add(Setting[[]string]{Kind: networks(), Row: Row{
		Name: "trusted-proxies", Where: Machine, Without: "none", Example: "NETWORK,...",
		Help: "Addresses or networks of proxies, such as 127.0.0.1 or 10.0.0.0/8, whose X-Forwarded-For, -Proto and -Host say who called, and how",
		More: "See [behind a proxy](operations.md#behind-a-proxy).",
	}})
)

// Limits of a key and an account.
var (
	GenerateRate = add(Setting[int]{Kind: integer(1, oneOrMore), InStack: integerWithin(1, 1_000_000), Row: Row{
		Name: "generate-rate", Where: Machine | Stack | Functions, Default: "60", Example: "N",
		Help: "Generate calls a minute for a key",
	}})
	ReadRate = add(Setting[int]{Kind: integer(1, oneOrMore), InStack: integerWithin(1, 1_000_000), Row: Row{
		Name: "read-rate", Where: Machine | Stack | Functions, Default: "600", Example: "N",
		Help: "Other calls a minute for a key",
	}})
	MaxOpenRequests = add(Setting[int]{Kind: integer(1, moreThanZero), InStack: integerWithin(1, 1_000_000), Row: Row{
		Name: "max-open-requests", Where: Machine | Stack | Functions, Default: "1000", Example: "N",
		Help: "Largest number of requests of an account that wait or are processed",
	}})
	MaxStored = add(Setting[Size]{Kind: size(1, sizeAboveZero), InStack: sizeIn(gibibyte, 1_000_000), Row: Row{
		Name: "max-stored", Where: Machine | Stack | Functions, Key: "maxStoredGiB", Default: "1024GiB", Example: "SIZE",
		Help: "Largest size of an account's uploads, outputs and records together",
	}})
	MaxKeys = add(Setting[int]{Kind: integer(1, moreThanZero), InStack: integerWithin(1, 100_000), Row: Row{
		Name: "max-keys", Where: Machine | Stack | Functions, Default: "1000", Example: "N",
		Help: "Largest number of active API keys of an account", More: "`keys create` has this option too.",
	}})
)

// Limits of media, and how long they are kept.
var (
	MaxVideo = add(Setting[Size]{Kind: size(1, sizeAboveZero), InStack: sizeIn(mebibyte, 5*1024), Row: Row{
		Name: "max-video", Where: Machine | Stack | Functions | Runner, Key: "maxVideoMiB", Default: "5GiB", Example: "SIZE",
		Help: "Largest video", More: "On AWS the disks of instances grow with this size.",
	}})
	MaxAudio = add(Setting[Size]{Kind: size(1, sizeAboveZero), InStack: sizeIn(mebibyte, 5*1024), Row: Row{
		Name: "max-audio", Where: Machine | Stack | Functions | Runner, Key: "maxAudioMiB", Default: "500MiB", Example: "SIZE",
		Help: "Largest audio",
	}})
	MaxDuration = add(Setting[time.Duration]{Kind: duration(1, ""), InStack: durationWithin(time.Second, day), Row: Row{
		Name: "max-duration", Where: Machine | Stack | Runner, Default: "60m", Example: "TIME",
		Help: "Longest video and audio",
	}})
	MaxSide = add(Setting[int]{Kind: integer(1, moreThanZero), InStack: integerWithin(16, 8192), Row: Row{
		Name: "max-side", Where: Machine | Stack | Runner, Default: "4096", Example: "N",
		Help: "Largest width and height of a video, in pixels",
	}})
	MaxFPS = add(Setting[float64]{Kind: float(), InStack: wholeFloat(1, 240), Row: Row{
		Name: "max-fps", Where: Machine | Stack | Runner, Default: "120", Example: "N",
		Help: "Largest frame rate of a video, in frames per second",
	}})
	MaxGigapixels = add(Setting[float64]{Kind: float(), InStack: wholeFloat(1, 1_000_000), Row: Row{
		Name: "max-gigapixels", Where: Machine | Stack | Runner, Default: "2000", Example: "N",
		Help: "Largest width × height × frames of a video and its output together, in thousand millions of pixels",
		More: "An hour of 3840 × 2160 at 30 frames a second has 1792.",
	}})
	KeepInputs = add(Setting[time.Duration]{Kind: duration(time.Hour, "1h or more"), InStack: durationWithin(time.Hour, 365*day), Row: Row{
		Name: "keep-inputs", Where: Machine | Stack | Functions, Default: "24h", Example: "TIME",
		Help: "How long an upload is kept after it was announced or last used",
	}})
	KeepOutputs = add(Setting[time.Duration]{
		Kind: duration(time.Hour, "1h or more"), InStack: durationWithin(time.Hour, 10*365*day),
		ContextDefault: func(*Values) string { return "168h" },
		Row: Row{
			Name: "keep-outputs", Where: Machine | Stack | Functions, Default: "720h", Without: "720h, 30 days; on AWS 168h, 7 days", Example: "TIME",
			Help: "How long an output is kept after its request completed",
		},
	})
	KeepFindings = add(Setting[time.Duration]{Kind: duration(0, "0 or more"), InStack: durationWithin(0, 365*day), Row: Row{
		Name: "keep-findings", Where: Machine | Stack | Runner, Default: "24h", Example: "TIME",
		Help: "How long what is found out about a video is kept for other requests of the account with the same video; 0 keeps nothing",
		More: "On AWS in whole days. See [retention](retention.md#findings).",
	}})
	KeepRecords = add(Setting[time.Duration]{Kind: duration(day, "24h or more"), InStack: durationWithin(day, 10*365*day), Row: Row{
		Name: "keep-records", Where: Machine | Stack | Functions, Default: "8760h", Without: "8760h, a year", Example: "TIME",
		Help: "How long the records of requests and batches are kept after their end, but not less than outputs",
		More: "See [retention](retention.md#records).",
	}})
	DiskReserve = add(Setting[Size]{Kind: size(0, "a size such as 5GiB, 500MiB or 1048576"), Row: Row{
		Name: "disk-reserve", Where: Machine, Default: "1GiB", Example: "SIZE",
		Help: "Free space that new media must leave on the disk of the data folder; 0 for none",
		More: "See [disk](operations.md#disk).",
	}})
)

// Settings of rendering.
var (
	Workers = add(Setting[int]{Kind: integer(0, oneOrMore), Row: Row{
		Name: "workers", Where: Machine, Without: "one for each 4 cores, with an NVIDIA GPU for each 2", Example: "N",
		Help: "Number of requests to render at once",
	}})
	Engine = add(Setting[string]{Kind: oneOf(order.EngineNames()...), Row: Row{
		Name: "engine", Where: Machine, Default: order.Warp, Example: "NAME", Choices: order.EngineNames(),
		Help: "Engine of requests that name none: " + enginesHere("or"),
		More: "See [models](models.md).",
	}})
	Engines = add(Setting[[]string]{Kind: words(strings.Join(order.EngineNames(), "|"), strings.Join(order.EngineNames(), " or ")), Row: Row{
		Name: "engines", Where: Stack | Functions, Default: order.Warp,
		Help: "Engines that requests may name as their model, the default first: " + enginesHere("and"),
	}})
	Models = add(Setting[string]{Kind: anyText(), Row: Row{
		Name: "models", Where: Machine | Runner, Without: "`~/.local/share/lipsync/models`", Example: "DIR",
		Help: "Folder with the models and models.json", More: "On AWS they come from the bucket: see [infra](../infra/README.md#models).",
	}})
	Providers = add(Setting[string]{Kind: anyText(), Row: Row{
		Name: "providers", Where: Machine | Runner, Without: "cuda,cpu", Example: "NAME", Optional: true,
		Help: "Providers that may compute networks, in order of preference: tensorrt, cuda, cpu",
	}})
	ONNXRuntime = add(Setting[string]{Kind: anyText(), Row: Row{
		Name: "onnxruntime", Where: Machine | Runner, Without: "in the usual places", Example: "FILE", Optional: true,
		Help: "Shared library of ONNX Runtime",
	}})
	NVIDIAEncode = add(Setting[bool]{Kind: boolean(), InStack: spelledBoolean(), Row: Row{
		Name: "nvidia-encode", Where: Machine | Stack | Runner, Default: "false", Optional: true,
		Help: "Encode video on an NVIDIA GPU that has an encoder, unlike A100, H100 and H200",
		More: "On AWS only requests of engines with networks are done where a GPU is, with `image=cuda`. See [models](models.md#on-an-nvidia-gpu).",
	}})
	ProvenanceCertificate = add(Setting[string]{Kind: anyText(), Row: Row{
		Name: "provenance-certificate", Where: Machine, Without: "outputs aren't signed", Example: "FILE",
		Help: "Certificate in PEM, with those above it, with which c2patool signs a manifest of C2PA into each output",
		More: "See [provenance](provenance.md).",
	}})
	ProvenanceKey = add(Setting[string]{Kind: anyText(), Row: Row{
		Name: "provenance-key", Where: Machine, Without: "none", Example: "FILE",
		Help: "Private key in PEM of the certificate",
	}})
	ProvenanceSecret = add(Setting[string]{Kind: matching(`|[A-Za-z0-9/_+=.@-]{1,512}`, "the name of a secret"), Row: Row{
		Name: "provenance-secret", Where: Stack | Runner, Without: "outputs aren't signed", Optional: true,
		Help: "Name of the secret in Secrets Manager that has the certificate, those above it, and the private key, in PEM, with which outputs are signed",
		More: "See [provenance](provenance.md#on-aws).",
	}})
	RequireProvenance = add(Setting[bool]{Kind: boolean(), InStack: spelledBoolean(), Row: Row{
		Name: "require-provenance", Where: Machine | Stack | Functions | Runner, Default: "false", Optional: true,
		Help: "Refuse outputs that can't be signed, which are those in WebM, and fail those that could not be",
	}})
	AllowPrivateNetworks = add(Setting[bool]{Kind: boolean(), Row: Row{
		Name: "allow-private-networks", Where: Machine | Runner | Functions, Default: "false", Optional: true,
		Help: "Fetch inputs from private networks and this machine too, and send outputs and events there, but never from metadata services of clouds",
	}})
)

// Settings of commands that call a service.
var (
	ServiceURL = add(Setting[*url.URL]{Kind: service(), Row: Row{
		Name: "url", Where: Caller, Default: "http://127.0.0.1:8080", Example: "URL",
		Help: "Address of the service",
	}})
	Key = add(Setting[string]{Kind: anyText(), Row: Row{
		Name: "key", Where: Caller, Without: "the one in the key file", Example: "KEY",
		Help: "API key; others on this machine can read it in the list of processes, unless it comes from the variable",
	}})
	KeyFile = add(Setting[string]{Kind: anyText(), Row: Row{
		Name: "key-file", Where: Caller, Without: "none", Example: "FILE",
		Help: "File with the API key",
	}})
)

// enginesHere says which engines there are, and which of them only with models.
func enginesHere(and string) string {
	var free, others []string
	for _, e := range order.Engines() {
		if e.Needs == "" {
			free = append(free, e.Name)
		} else {
			others = append(others, e.Name)
		}
	}
	and = " " + and + " "
	return strings.Join(free, and) + "," + and + strings.Join(others, and) + " if there are such models"
}

package settings

import (
	"log/slog"
	"net/url"
	"strings"
	"time"
)

// What values must be, more than once.
const (
	oneOrMore     = "1 or more"
	moreThanZero  = "more than 0"
	aPath         = "a path"
	sizeAboveZero = "a size above 0, such as 5GiB, 500MiB or 1048576"
	day           = 24 * time.Hour
	mebibyte      = Size(1 << 20)
	gibibyte      = Size(1 << 30)
)

// Data and where to listen.
var (
	Data = add(Setting[string]{Kind: anyText(), Row: Row{
		Name: "data", Where: Machine, Example: "DIR", Without: "`~/.local/share/lipsync`",
		Help: "Folder of the service's data, made if there is none", More: "One server at a time uses it.",
	}})
	Addr = add(Setting[string]{Kind: hostPort("127.0.0.1:8080"), Row: Row{
		Name: "addr", Where: Machine, Default: "127.0.0.1:8080", Example: "HOST:PORT",
		Help: "Where to listen; port 0 is any free one",
	}})
	MetricsAddr = add(Setting[string]{Kind: hostPortOrNone("127.0.0.1:9090"), Row: Row{
		Name: "metrics-addr", Where: Machine, Without: "nowhere", Example: "HOST:PORT",
		Help: "Where to serve GET /metrics for Prometheus, and GET /readyz, to whoever asks there",
		More: "See [monitoring](../monitoring/README.md).",
	}})
	PublicURL = add(Setting[*url.URL]{Kind: site(), Row: Row{
		Name: "public-url", Where: Machine | Functions, Without: "as each call came", Example: "URL",
		Help: "How clients reach the service, e.g. through a proxy, for the links in answers",
		More: "`https://HOST`, with no path.",
	}})
	CORSOrigins = add(Setting[[]string]{Kind: origins(), InStack: words(`\*|https?://[^/\s]+`, "* or an origin such as https://example.com"), Row: Row{
		Name: "cors-origins", Where: Machine | Stack | Functions, Default: "*", Example: "ORIGIN",
		Help: "Web sites whose pages may call the API, send uploads and fetch outputs; * for any",
		More: "All of that needs an API key or a signed URL, which no browser sends by itself. The dashboard is open to no other site.",
	}})
	LogLevel = add(Setting[slog.Level]{Kind: level(), Row: Row{
		Name: "log-level", Where: Machine, Default: "info", Example: "LEVEL",
		Help: "Lowest level that is logged: debug, info, warn or error",
	}})
)

// What a key and an account may do.
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
		Help: "Most requests of an account that wait or are processed",
	}})
	MaxStored = add(Setting[Size]{Kind: size(1, sizeAboveZero), InStack: sizeIn(gibibyte, 1_000_000), Row: Row{
		Name: "max-stored", Where: Machine | Stack | Functions, Key: "maxStoredGiB", Default: "1024GiB", Example: "SIZE",
		Help: "Most bytes of an account's uploads and outputs",
	}})
	MaxKeys = add(Setting[int]{Kind: integer(1, moreThanZero), InStack: integerWithin(1, 100_000), Row: Row{
		Name: "max-keys", Where: Machine | Stack | Functions, Default: "1000", Example: "N",
		Help: "Most active API keys of an account", More: "An option of `keys create` too.",
	}})
)

// What media may be, and how long they stay.
var (
	MaxVideo = add(Setting[Size]{Kind: size(1, sizeAboveZero), InStack: sizeIn(mebibyte, 5*1024), Row: Row{
		Name: "max-video", Where: Machine | Stack | Functions | Runner, Key: "maxVideoMiB", Default: "5GiB", Example: "SIZE",
		Help: "Largest video", More: "On AWS the disks of instances grow with it.",
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
		Help: "Most pixels of a video's width and height",
	}})
	MaxFPS = add(Setting[float64]{Kind: float(), InStack: wholeFloat(1, 240), Row: Row{
		Name: "max-fps", Where: Machine | Stack | Runner, Default: "120", Example: "N",
		Help: "Most frames a second of a video",
	}})
	KeepInputs = add(Setting[time.Duration]{Kind: duration(time.Hour, "1h or more"), InStack: durationWithin(time.Hour, 365*day), Row: Row{
		Name: "keep-inputs", Where: Machine | Stack | Functions, Default: "24h", Example: "TIME",
		Help: "How long an upload stays after it was announced or last used",
		More: "Files that come in a form go with the end of their request.",
	}})
	KeepOutputs = add(Setting[time.Duration]{Kind: duration(time.Hour, "1h or more"), InStack: durationWithin(time.Hour, 10*365*day), Row: Row{
		Name: "keep-outputs", Where: Machine | Stack | Functions, Default: "720h", Without: "720h, 30 days", Example: "TIME",
		Help: "How long an output stays after its request completed",
	}})
	DiskReserve = add(Setting[Size]{Kind: size(0, "a size such as 5GiB, 500MiB or 1048576"), Row: Row{
		Name: "disk-reserve", Where: Machine, Default: "1GiB", Example: "SIZE",
		Help: "Free space of the data folder's disk that new media must leave; 0 for none",
		More: "See [disk](operations.md#disk).",
	}})
)

// What makes outputs.
var (
	Workers = add(Setting[int]{Kind: integer(0, oneOrMore), Row: Row{
		Name: "workers", Where: Machine, Without: "one for each 4 cores", Example: "N",
		Help: "Requests rendered at once",
	}})
	Engine = add(Setting[string]{Kind: oneOf(engines...), Row: Row{
		Name: "engine", Where: Machine, Default: "warp", Example: "NAME", Choices: engines,
		Help: "What makes the mouths, unless a request names it: warp, or wav2lip where there is such a model",
		More: "See [models](models.md).",
	}})
	Engines = add(Setting[[]string]{Kind: words(strings.Join(engines, "|"), strings.Join(engines, " or ")), Row: Row{
		Name: "engines", Where: Stack | Functions, Default: "warp",
		Help: "What requests may name as their model, the default first: warp, and wav2lip where there is such a model, with commas between",
	}})
	Models = add(Setting[string]{Kind: anyText(), Row: Row{
		Name: "models", Where: Machine | Runner, Without: "`~/.local/share/lipsync/models`", Example: "DIR",
		Help: "Folder of models, with models.json", More: "On AWS they come from the bucket: see [infra](../infra/README.md#models).",
	}})
	Providers = add(Setting[string]{Kind: anyText(), Row: Row{
		Name: "providers", Where: Machine | Runner, Without: "cuda,cpu", Example: "NAME", Optional: true,
		Help: "What computes networks, the first that can: tensorrt, cuda, cpu",
	}})
	ONNXRuntime = add(Setting[string]{Kind: anyText(), Row: Row{
		Name: "onnxruntime", Where: Machine | Runner, Without: "in the usual places", Example: "FILE", Optional: true,
		Help: "Shared library of ONNX Runtime",
	}})
	NVIDIA = add(Setting[bool]{Kind: boolean(), InStack: spelledBoolean(), Row: Row{
		Name: "nvidia", Where: Machine | Stack | Runner, Key: "nvidiaVideo", Default: "false", Optional: true,
		Help: "Decode and encode pictures on an NVIDIA GPU", More: "Pictures of less than 160 pixels a side stay on the CPU: see [models](models.md#on-an-nvidia-gpu).",
	}})
	AllowPrivateNetworks = add(Setting[bool]{Kind: boolean(), Row: Row{
		Name: "allow-private-networks", Where: Machine | Runner, Default: "false", Optional: true,
		Help: "Fetch inputs from private networks and this machine too, not only from the public Internet; never from metadata services of clouds",
	}})
)

// engines are all that a request may name, if the operator allows it.
var engines = []string{"warp", "wav2lip"}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lipsync/internal/lipsync"
	"lipsync/internal/render"
	"lipsync/internal/settings"
	"lipsync/internal/version"
)

type serveCommand struct {
	dataFlag
	renderFlags
	Addr                 string        `default:"127.0.0.1:8080" env:"LIPSYNC_ADDR" placeholder:"HOST:PORT" help:"Where to listen; port 0 is any free one (default: ${default})."`
	LogLevel             slog.Level    `default:"info" env:"LIPSYNC_LOG_LEVEL" placeholder:"LEVEL" help:"Least level of what is logged: debug, info, warn or error (default: ${default})."`
	MetricsAddr          string        `env:"LIPSYNC_METRICS_ADDR" placeholder:"HOST:PORT" help:"Where to serve GET /metrics for Prometheus, and GET /readyz, to whoever asks there (default: nowhere)."`
	Workers              int           `env:"LIPSYNC_WORKERS" placeholder:"N" help:"Requests rendered at once (default: one for each 4 cores)."`
	AllowPrivateNetworks bool          `env:"LIPSYNC_ALLOW_PRIVATE_NETWORKS" help:"Fetch inputs from private networks and this machine too, not only from the public Internet; never from metadata services of clouds."`
	GenerateRate         int           `default:"60" env:"LIPSYNC_GENERATE_RATE" placeholder:"N" help:"Generate calls a minute for a key (default: ${default})."`
	ReadRate             int           `default:"600" env:"LIPSYNC_READ_RATE" placeholder:"N" help:"Other calls a minute for a key (default: ${default})."`
	MaxOpenRequests      int           `default:"1000" env:"LIPSYNC_MAX_OPEN_REQUESTS" placeholder:"N" help:"Most requests of an account that wait or are processed (default: ${default})."`
	MaxStored            settings.Size `default:"1024GiB" env:"LIPSYNC_MAX_STORED" placeholder:"SIZE" help:"Most bytes of an account's uploads and outputs (default: ${default})."`
	MaxKeys              int           `default:"1000" env:"LIPSYNC_MAX_KEYS" placeholder:"N" help:"Most active API keys of an account, for the dashboard (default: ${default})."`
	KeepInputs           time.Duration `default:"24h" env:"LIPSYNC_KEEP_INPUTS" placeholder:"TIME" help:"How long an upload stays after it was announced or last used (default: ${default})."`
	KeepOutputs          time.Duration `default:"720h" env:"LIPSYNC_KEEP_OUTPUTS" placeholder:"TIME" help:"How long an output stays after its request completed (default: ${default}, 30 days)."`
	PublicURL            *url.URL      `env:"LIPSYNC_PUBLIC_URL" placeholder:"URL" help:"How clients reach the service, e.g. through a proxy, for the links in answers (default: as each call came)."`
	CORSOrigins          []string      `name:"cors-origins" default:"*" env:"LIPSYNC_CORS_ORIGINS" placeholder:"ORIGIN,..." help:"Web sites whose pages may call the API, send uploads and fetch outputs; * for any (default: ${default})."`
	MaxVideo             settings.Size `default:"5GiB" env:"LIPSYNC_MAX_VIDEO" placeholder:"SIZE" help:"Largest video (default: ${default})."`
	MaxAudio             settings.Size `default:"500MiB" env:"LIPSYNC_MAX_AUDIO" placeholder:"SIZE" help:"Largest audio (default: ${default})."`
	MaxDuration          time.Duration `default:"60m" env:"LIPSYNC_MAX_DURATION" placeholder:"TIME" help:"Longest video and audio (default: ${default})."`
	MaxSide              int           `default:"4096" env:"LIPSYNC_MAX_SIDE" placeholder:"N" help:"Most pixels of a video's width and height (default: ${default})."`
	DiskReserve          settings.Size `default:"1GiB" env:"LIPSYNC_DISK_RESERVE" placeholder:"SIZE" help:"Free space of the data folder's disk that new media must leave; 0 for none (default: ${default})."`
	MaxFPS               float64       `name:"max-fps" default:"120" env:"LIPSYNC_MAX_FPS" placeholder:"N" help:"Most frames a second of a video (default: ${default})."`
}

// Validate implements kong's check of a command's options.
func (c *serveCommand) Validate() error {
	switch {
	case !isHostPort(c.Addr):
		return errors.New("--addr must be HOST:PORT, such as 127.0.0.1:8080")
	case c.MetricsAddr != "" && !isHostPort(c.MetricsAddr):
		return errors.New("--metrics-addr must be HOST:PORT, such as 127.0.0.1:9090")
	case c.Workers < 0:
		return errors.New("--workers must be 1 or more")
	case c.GenerateRate < 1 || c.ReadRate < 1:
		return errors.New("--generate-rate and --read-rate must be 1 or more")
	case c.MaxOpenRequests < 1 || c.MaxStored < 1 || c.MaxKeys < 1:
		return errors.New("--max-open-requests, --max-stored and --max-keys must be more than 0")
	case c.KeepInputs < time.Hour || c.KeepOutputs < time.Hour:
		return errors.New("--keep-inputs and --keep-outputs must be 1h or more")
	case c.MaxVideo < 1 || c.MaxAudio < 1 || c.MaxDuration <= 0 || c.MaxSide < 1 || c.MaxFPS <= 0:
		return errors.New("--max-video, --max-audio, --max-duration, --max-side and --max-fps must be more than 0")
	case slices.ContainsFunc(c.CORSOrigins, notOrigin):
		return errors.New("--cors-origins must be * or http://HOST or https://HOST, with a port or none, and no path")
	case c.PublicURL != nil && !isOrigin(c.PublicURL):
		return errors.New("--public-url must be http://HOST or https://HOST, with a port or none, and no path")
	}
	return nil
}

func isHostPort(text string) bool {
	_, _, err := net.SplitHostPort(text)
	return err == nil
}

// listen listens at the address that an option names.
func listen(address, option string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use; choose another with %s", address, option)
	}
	return listener, err
}

// isOrigin reports whether u is only a scheme and a host: the service is at
// the root of its host.
func isOrigin(u *url.URL) bool {
	origin := url.URL{Scheme: u.Scheme, Host: u.Host}
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.TrimSuffix(u.String(), "/") == origin.String()
}

func notOrigin(text string) bool {
	u, err := url.Parse(text)
	return text != "*" && (err != nil || !isOrigin(u) || strings.HasSuffix(text, "/"))
}

func (c *serveCommand) Run(ctx context.Context, s streams) error {
	return c.serve(ctx, slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: c.LogLevel})), func(d *data, address net.Addr) error {
		keys, err := d.service.Keys.List(ctx, "")
		if err != nil {
			return err
		}
		if !hasActive(keys) {
			fmt.Fprintf(s.err, "There is no API key yet. Make one with: lipsync keys create --data %q --name NAME\n", c.Data)
		}
		if _, err := fmt.Fprintf(s.err, "listening on http://%s\n", address); err != nil {
			return err
		}
		return c.announce(s, d.signIn, address)
	})
}

func hasActive(keys []lipsync.Key) bool {
	for _, k := range keys {
		if k.RevokedAt.IsZero() {
			return true
		}
	}
	return false
}

// limits are what the media of a request may be, besides their sizes.
func (c *serveCommand) limits() render.Limits {
	return render.Limits{Duration: c.MaxDuration, Width: c.MaxSide, Height: c.MaxSide, FPS: c.MaxFPS}
}

// accountLimits are what an account may have, and for how long.
func (c *serveCommand) accountLimits() lipsync.Limits {
	return lipsync.Limits{
		Open: c.MaxOpenRequests, Stored: int64(c.MaxStored), Keys: c.MaxKeys,
		Keep: lipsync.Retention{Inputs: c.KeepInputs, Outputs: c.KeepOutputs},
	}
}

// workers is how many requests to render at once.
func (c *serveCommand) workers() int {
	if c.Workers > 0 {
		return c.Workers
	}
	return max(1, runtime.GOMAXPROCS(0)/4)
}

// serve serves until ctx ends. It calls ready once it accepts calls.
func (c *serveCommand) serve(ctx context.Context, log *slog.Logger, ready func(*data, net.Addr) error) (err error) {
	log.Info("start", "version", version.String())
	unlock, err := lock(c.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	folder, err := openData(ctx, c.Data, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.close()) }()
	renderer, err := c.open(ctx, max(1, runtime.GOMAXPROCS(0)/c.workers()), c.limits(), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, renderer.Close()) }()
	log.Info("sandbox of ffmpeg", "layers", renderer.Tools.Sandbox)
	home, err := newHome(c, folder, renderer, log)
	if err != nil {
		return err
	}
	listener, err := listen(c.Addr, "--addr")
	if err != nil {
		return err
	}
	defer listener.Close()
	metrics, err := c.listenMetrics()
	if err != nil {
		return err
	}
	if metrics != nil {
		defer metrics.Close()
		home.monitored(renderer)
		log.Info("serving metrics", "address", metrics.Addr().String())
	}
	switch err := home.recover(ctx); {
	case lipsync.DiskFull(err):
		log.Error("recover", "error", err) // leases that are left end by themselves
	case err != nil:
		return err
	}
	if err := ready(folder, listener.Addr()); err != nil {
		return err
	}
	return home.run(ctx, listener, metrics)
}

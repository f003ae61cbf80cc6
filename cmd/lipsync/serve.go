package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"runtime"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/sys/unix"

	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/cmd/lipsync/internal/flags"
	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/operator"
	"lipsync/internal/domain/service"
	"lipsync/internal/domain/settings"
	"lipsync/internal/domain/version"
	"lipsync/internal/render/engines"
	"lipsync/internal/work/worker"
)

type serveCommand struct {
	dataFlag
	renderFlags
	operator.Settings
	Check                 bool `help:"Check the settings and what a server needs, print the settings that differ from their defaults, and end."`
	JSON                  bool `name:"json" help:"Print a JSON array of the checks. It needs --check."`
	Addr                  string
	LogLevel              slog.Level
	LogFormat             string
	TrustedProxies        []string
	MetricsAddr           string
	Workers               int
	AllowPrivateNetworks  bool
	PublicURL             *url.URL
	CORSOrigins           []string `name:"cors-origins"`
	DiskReserve           settings.Size
	ProvenanceCertificate string
	ProvenanceKey         string

	pieceTime time.Duration // see worker.Config; tests set it
}

// Validate checks the options; kong calls it.
func (c *serveCommand) Validate() error {
	if c.JSON && !c.Check {
		return errors.New("--json needs --check")
	}
	return nil
}

// listen listens at the address, which is the value of the setting.
func listen(address string, set *settings.Setting[string]) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use; choose another with %s", address, set.Flag())
	}
	return listener, err
}

func (c *serveCommand) Run(ctx context.Context, k *kong.Context, s streams) error {
	log := c.logger(s.Err)
	unknown := flags.Unknown(os.Environ())
	if c.Check {
		return c.check(ctx, k, unknown, s.Out)
	}
	for _, sentence := range unknown {
		log.Warn(sentence)
	}
	return c.serve(ctx, log, func(d *deployment, address net.Addr) error {
		keys, err := d.service.Keys(ctx, "")
		if err != nil {
			return err
		}
		return c.announce(s, log, d.data.SignIn, address, hasActive(keys))
	})
}

// logger returns the log.
func (c *serveCommand) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// check prints the settings that differ from their defaults, and checks what a server needs.
func (c *serveCommand) check(ctx context.Context, k *kong.Context, unknown []string, out io.Writer) error {
	checks := &checks{out: out, json: c.JSON}
	for _, line := range flags.Given(k) {
		checks.tell("setting", line, nil)
	}
	for _, sentence := range unknown {
		checks.tell("setting", "", errors.New(sentence))
	}
	if err := datafolder.Make(c.Data); err != nil {
		checks.tell("folder", "", err)
	} else {
		checks.tell("folder", c.Data, checkDisk(c.Data))
	}
	checks.engines(ctx, c.renderFlags, c.Data)
	return checks.end()
}

func hasActive(keys []lipsync.Key) bool {
	for _, k := range keys {
		if k.Active(time.Now()) {
			return true
		}
	}
	return false
}

// base returns the address of the service for URLs in events.
func (c *serveCommand) base(address net.Addr) *url.URL {
	if c.PublicURL != nil {
		return c.PublicURL
	}
	return &url.URL{Scheme: "http", Host: reachable(address)}
}

// config returns what the service offers and allows. Requests may name the engines of the set.
func (c *serveCommand) config(s *engines.Set) (base.Config, error) {
	names, err := s.Names(c.Engine)
	return c.Settings.Config(base.Config{
		Engines: names, Workers: c.workers(), MaxFindings: service.MostFindings, MaxPieces: service.MostPieces,
	}), err
}

// workers returns the number of requests to render at once.
func (c *serveCommand) workers() int {
	if c.Workers > 0 {
		return c.Workers
	}
	return defaultWorkers(runtime.GOMAXPROCS(0), c.usesGPU())
}

// defaultWorkers returns the number of requests that keep a machine busy. With a GPU a request leaves cores idle while it waits for the
// networks: on an H200 with 16 cores, 1, 4 and 8 jobs at once made 324, 578 and 660 frames a second.
func defaultWorkers(cores int, gpu bool) int {
	if gpu {
		return max(2, cores/2)
	}
	return max(1, cores/4)
}

// serve serves until ctx ends. It calls ready once it accepts calls.
func (c *serveCommand) serve(ctx context.Context, log *slog.Logger, ready func(*deployment, net.Addr) error) (err error) {
	unlock, err := datafolder.Lock(c.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	folder, err := datafolder.Open(ctx, c.Data, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	if err := folder.Belong(ctx); err != nil {
		return err
	}
	if err := folder.StampNew(ctx); err != nil {
		return err
	}
	renderer, err := c.open(ctx, max(1, runtime.GOMAXPROCS(0)/c.workers()), worker.Limits(c.Settings), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, renderer.Close()) }()
	log.Info("start", "version", version.String())
	log.Info("sandbox of ffmpeg", "layers", renderer.Tools.Sandbox)
	w := worker.Config{Renderer: renderer, Log: log, PieceTime: c.pieceTime, Stores: true}
	if w.Scratch, err = folder.Scratch(); err != nil {
		return err
	}
	if w.Signer, err = c.signer(ctx, w.Scratch); err != nil {
		return err
	}
	listener, err := listen(c.Addr, settings.Addr)
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
		log.Info("serving metrics", "address", metrics.Addr().String())
	}
	deployment, err := newDeployment(ctx, c, folder, renderer, w, listener.Addr(), metrics != nil)
	if err != nil {
		return err
	}
	switch err := deployment.recover(ctx); {
	case failure.DiskFull(err):
		log.Error("recover", "error", err) // leases that were not freed end by themselves
	case err != nil:
		return err
	}
	if err := ready(deployment, listener.Addr()); err != nil {
		return err
	}
	return deployment.run(ctx, listener, metrics)
}

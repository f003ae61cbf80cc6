package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	repository "lipsync"
	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/internal/domain/clock"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/agents"
	"lipsync/internal/http/client"
	"lipsync/internal/http/cors"
	"lipsync/internal/http/dashboard"
	"lipsync/internal/http/fetch"
	"lipsync/internal/http/proxy"
	"lipsync/internal/http/rest"
	"lipsync/internal/http/site"
	"lipsync/internal/render/engines"
	"lipsync/internal/store/disk"
	"lipsync/internal/work/local"
	"lipsync/internal/work/monitor"
	"lipsync/internal/work/worker"
)

// Times of the server.
const (
	headerTime  = 10 * time.Second // to send a call's header
	idleTime    = 2 * time.Minute  // between two calls on a connection
	stallTime   = 30 * time.Second // without a byte of a body, in or out
	closeTime   = 5 * time.Second  // to finish calls when the service stops
	headerBytes = 64 << 10
)

// deployment is the service of one machine: API, workers and sweeps on one data
// folder, in one process.
type deployment struct {
	data      *datafolder.Folder
	service   *service.Service
	log       *slog.Logger
	handler   http.Handler
	monitor   http.Handler // nil: no address for it is set
	sweep     func(context.Context) error
	doubt     *clock.Doubt
	worker    *worker.Worker
	scheduler *local.Scheduler
}

// newDeployment returns the service on the folder, which is reached at the address, with a worker of a config that lacks only what the service gives.
// If metrics is set, it has a monitor.
func newDeployment(ctx context.Context, c *serveCommand, folder *datafolder.Folder, s *engines.Set, w worker.Config, address net.Addr, metrics bool) (_ *deployment, err error) {
	d := &deployment{data: folder, log: w.Log, scheduler: local.New(c.workers(), w.Log)}
	options := fetch.Options{
		AllowPrivate: c.AllowPrivateNetworks, PrivateHint: ": " + settings.AllowPrivateNetworks.Flag() + " allows those",
		About: c.PublicURL, Total: worker.FetchTime, Stall: worker.StallTime, Patience: worker.Patience,
	}
	fetcher := fetch.New(options)
	w.Fetcher, w.Sender = fetcher, fetcher
	options.Total, options.Stall = lipsync.PostTime, lipsync.PostTime
	folder.Objects.Reserve = int64(c.DiskReserve)
	ports := folder.Ports()
	ports.Hints, ports.Announcer, ports.Poster = d.scheduler, d.scheduler, fetch.New(options)
	ports.EventBody, ports.Log = rest.EventBody(c.base(address)), w.Log
	ports.Room, ports.RoomToWork = folder.Objects.Room, folder.Objects.RoomToWork
	if d.doubt, err = folder.Doubt(ctx, datafolder.SinceNow(), func(ahead time.Duration) {
		d.log.Warn("the clock is far ahead of the last time in the database: nothing is deleted by its age for an hour; correct the clock if it is wrong",
			"ahead", ahead.Round(time.Second))
	}); err != nil {
		return nil, err
	}
	ports.Trusted = d.doubt.Trusted
	ports.Working = func(held []time.Time) ([]time.Time, int) { return d.worker.Working(held) }
	var m *monitor.Monitor
	if metrics {
		m = d.newMonitor(s, w.Scratch)
		ports.Watcher, folder.Store.Observer = m, m.Operation
		w.Rendered, w.Fetched = m.Rendered, m.Fetched
	}
	config, err := c.config(s)
	if err != nil {
		return nil, err
	}
	if d.service, err = service.New(config, ports); err != nil {
		return nil, err
	}
	w.Work, d.sweep = d.service.Work, d.service.Sweep
	if d.worker, err = worker.New(w); err != nil {
		return nil, err
	}
	if metrics {
		d.monitored(m)
	}
	return d, d.handle(c)
}

// handle makes the handler of all calls.
func (d *deployment) handle(c *serveCommand) error {
	api := rest.New(d.service, rest.Options{Log: d.log, PublicURL: c.PublicURL})
	pages, err := newDashboard(d.service, d.data.SignIn, c.PublicURL, d.log)
	if err != nil {
		return err
	}
	open := func(h http.Handler) http.Handler { return cors.Allow(c.CORSOrigins, h) }
	docs, err := site.New(repository.Pages)
	if err != nil {
		return err
	}
	tools := agents.Handler(api, agents.Options{Sleep: client.Pause, NewID: uuid.NewString})
	untold := func() {
		d.log.Warn("a call came by a proxy (it has X-Forwarded-Proto), and links begin with the address of the connection: see " +
			settings.PublicURL.Flag() + " and " + settings.TrustedProxies.Flag())
	}
	if c.PublicURL != nil {
		untold = nil
	}
	d.handler = proxy.Trust(c.TrustedProxies, untold, stalling(route(open(api), open(d.data.Objects.Handler()), pages, docs, tools), stallTime))
	return nil
}

// route sends calls of signed URLs to the objects, those of pages to the
// dashboard, those of documentation to its site, those of assistants to the tools, and all others to the API.
func route(api, objects, pages, docs, tools http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case strings.HasPrefix(path, disk.Prefix):
			objects.ServeHTTP(w, r)
		case path == rest.LLMsPath: // where language models look for it
			http.Redirect(w, r, rest.Base+path, http.StatusFound)
		case path == agents.Path || path == rest.Base+agents.Path: // the second is its path on AWS
			tools.ServeHTTP(w, r)
		case path == "/" || path == dashboard.Root || strings.HasPrefix(path, dashboard.Root+"/"):
			pages.ServeHTTP(w, r)
		case path == site.Root || strings.HasPrefix(path, site.Root+"/"):
			docs.ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

// recover frees the leases, and removes the unfinished files, of a process that was killed.
func (d *deployment) recover(ctx context.Context) error {
	return errors.Join(d.data.Objects.Clean(), d.service.Recover(ctx))
}

// tidy deletes what is no longer needed, and gives the folder a new stamp.
func (d *deployment) tidy(ctx context.Context) error {
	err := d.service.Tidy(ctx, lipsync.OrphanAge)
	if d.doubt.Trusted() {
		err = errors.Join(err, d.data.Stamp(ctx))
	}
	return err
}

// run serves, works and sweeps until ctx ends. Then it finishes the calls, as
// far as they do within closeTime, and gives unfinished requests back. The monitor
// is served to metrics, if that is not nil.
func (d *deployment) run(ctx context.Context, listener, metrics net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	all.Go(func() { d.scheduler.Run(ctx, d.worker, d.service.DeliverDue, d.sweep, d.tidy) })
	all.Go(func() {
		<-ctx.Done()
		d.log.Info("stopping")
	})
	if metrics != nil {
		all.Go(func() {
			if err := d.listen(ctx, metrics, d.monitor); err != nil {
				d.log.Error("serve metrics", "error", err)
			}
		})
	}
	err := d.listen(ctx, listener, d.handler)
	stop()
	all.Wait()
	return err
}

// listen serves the handler until ctx ends, and then until its calls are finished,
// at most for closeTime.
func (d *deployment) listen(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          slog.NewLogLogger(d.log.Handler(), slog.LevelWarn),
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer cancel()
		if server.Shutdown(last) != nil {
			_ = server.Close() // calls that take longer are cut off
		}
	})
	err := server.Serve(listener)
	if !stop() {
		<-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

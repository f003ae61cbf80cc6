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

	"lipsync/internal/dashboard"
	"lipsync/internal/disk"
	"lipsync/internal/engines"
	"lipsync/internal/fetch"
	"lipsync/internal/lipsync"
	"lipsync/internal/rest"
	"lipsync/internal/settings"
	"lipsync/internal/worker"
)

// Times of the server.
const (
	headerTime  = 10 * time.Second // to send a call's header
	idleTime    = 2 * time.Minute  // between two calls on a connection
	stallTime   = 30 * time.Second // without a byte of a body, in or out
	closeTime   = 5 * time.Second  // to finish calls when the service stops
	fetchTime   = 20 * time.Minute // for one input of a request
	sweepEvery  = time.Minute
	tidyEvery   = time.Hour
	headerBytes = 64 << 10
)

// home is the service of one machine: API, workers and sweeps on one data
// folder, in one process.
type home struct {
	data    *data
	log     *slog.Logger
	handler http.Handler
	monitor http.Handler // nil: nobody looks
	worker  *worker.Worker
	workers int
	wake    wake
}

// wake is the queue of one process: it wakes an idle worker, which asks the
// store what there is to do.
type wake chan struct{}

// Send implements lipsync.Queue.
func (w wake) Send(context.Context, string) error {
	select {
	case w <- struct{}{}:
	default: // as many wake-ups wait as there are workers
	}
	return nil
}

func newHome(c *serveCommand, d *data, s *engines.Set, log *slog.Logger) (*home, error) {
	h := &home{data: d, log: log, workers: c.workers(), wake: make(wake, c.workers())}
	d.service.Queue = h.wake
	d.service.GenerateRate, d.service.ReadRate = c.GenerateRate, c.ReadRate
	d.service.MaxVideo, d.service.MaxAudio = int64(c.MaxVideo), int64(c.MaxAudio)
	d.service.Limits = c.accountLimits()
	d.objects.Reserve = int64(c.DiskReserve)
	d.service.Room, d.service.Log = d.objects.Room, log
	api := rest.New(d.service, rest.Options{Log: log, PublicURL: c.PublicURL})
	pages, err := newDashboard(d.service, d.signIn, c.PublicURL, log)
	if err != nil {
		return nil, err
	}
	open := func(h http.Handler) http.Handler { return rest.AllowOrigins(c.CORSOrigins, h) }
	h.handler = stalling(route(open(api), open(d.objects.Handler()), pages), stallTime)
	if d.service.Engines, err = s.Names(c.Engine); err != nil {
		return nil, err
	}
	h.worker = &worker.Worker{
		Service:  d.service,
		Renderer: s,
		Fetcher: fetch.New(fetch.Options{
			AllowPrivate: c.AllowPrivateNetworks, PrivateHint: ": " + settings.AllowPrivateNetworks.Flag() + " allows those",
			Total: fetchTime, Stall: stallTime,
		}),
		Log: log,
	}
	h.worker.Scratch, err = d.scratch()
	return h, err
}

// route sends calls of signed URLs to the objects, those of pages to the
// dashboard, and all others to the API.
func route(api, objects, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case strings.HasPrefix(path, disk.Prefix):
			objects.ServeHTTP(w, r)
		case path == "/" || path == dashboard.Root || strings.HasPrefix(path, dashboard.Root+"/"):
			pages.ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

// recover makes good what a process left that was killed.
func (h *home) recover(ctx context.Context) error {
	return errors.Join(h.data.objects.Clean(), h.data.service.Recover(ctx))
}

// run serves, works and sweeps until ctx ends. Then it finishes the calls, as
// far as they do within closeTime, and gives unfinished requests back. The monitor
// is served to metrics, if that is not nil.
func (h *home) run(ctx context.Context, listener, metrics net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	all.Go(func() { h.worker.Run(ctx, h.workers, h.wake) })
	all.Go(func() { h.every(ctx, sweepEvery, "sweep", h.data.service.Sweep) })
	all.Go(func() {
		h.every(ctx, tidyEvery, "tidy", func(ctx context.Context) error {
			return h.data.service.Tidy(ctx, lipsync.OrphanAge)
		})
	})
	all.Go(func() {
		<-ctx.Done()
		h.log.Info("stopping")
	})
	if metrics != nil {
		all.Go(func() {
			if err := h.listen(ctx, metrics, h.monitor); err != nil {
				h.log.Error("serve metrics", "error", err)
			}
		})
	}
	err := h.listen(ctx, listener, h.handler)
	stop()
	all.Wait()
	return err
}

// listen serves the handler until ctx ends, and then until its calls are finished,
// at most for closeTime.
func (h *home) listen(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          slog.NewLogLogger(h.log.Handler(), slog.LevelWarn),
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

// every calls f at once and then in steps, until ctx ends.
func (h *home) every(ctx context.Context, step time.Duration, name string, f func(context.Context) error) {
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	for {
		if err := f(ctx); err != nil && ctx.Err() == nil {
			h.log.Error(name, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

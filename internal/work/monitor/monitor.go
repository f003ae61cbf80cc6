// Package monitor gives operators metrics of the service on one machine, in Prometheus' format, and
// a check whether everything that the service needs works.
//
// No label contains an account, a request or an address. Each label has few values.
package monitor

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// Options says what to monitor.
type Options struct {
	// Backlog returns the open requests at now.
	Backlog func(ctx context.Context, now time.Time) (lipsync.Backlog, error)
	Folder  string  // data folder, whose disk is monitored
	Checks  []Check // for GET /readyz
	Now     func() time.Time
	Log     *slog.Logger // gets errors of metrics that can't be read
}

// Monitor has the metrics of one process.
type Monitor struct {
	options  Options
	registry *prometheus.Registry

	created           prometheus.Counter
	finished          *prometheus.CounterVec // by status and code
	unsigned          prometheus.Counter
	postponed         *prometheus.CounterVec // by code
	unreachable       prometheus.Gauge
	failing           prometheus.Gauge // in seconds
	swept             prometheus.Counter
	queued            prometheus.Histogram
	attempts          prometheus.Histogram
	rendered, renders prometheus.Counter // in seconds
	operations        *prometheus.HistogramVec
	failures          *prometheus.CounterVec // by operation
	fetches           *prometheus.HistogramVec
	posts             *prometheus.HistogramVec // by result
}

// New returns a monitor whose counters are 0.
func New(o Options) *Monitor {
	m := &Monitor{options: o, registry: prometheus.NewRegistry()}
	m.registry.MustRegister(state{m}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	f := promauto.With(m.registry)
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return f.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	histogram := func(name, help string, buckets ...float64) prometheus.Histogram {
		return f.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}
	histograms := func(label, name, help string, buckets ...float64) *prometheus.HistogramVec {
		return f.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{label})
	}
	m.created = counter("lipsync_requests_created_total", "Requests that clients made.")
	m.finished = counters("lipsync_requests_finished_total", "Requests that completed or failed, by the code of the failure.", "status", "code")
	m.unsigned = counter("lipsync_outputs_not_signed_total",
		"Outputs without a signed manifest, although the service signs outputs and they can be signed.")
	m.postponed = counters("lipsync_attempts_put_off_total",
		"Attempts that failed and after which the request is tried again, by the code of the failure.", "code")
	m.unreachable = gauge("lipsync_unreachable_hosts",
		"Different hosts of media, at least, that waiting requests could not reach; 1 if one host does not answer.")
	m.failing = gauge("lipsync_host_failing_seconds",
		"Longest time for which faults of the machine have postponed a request again and again; 0 if they postpone none.")
	m.swept = counter("lipsync_sweeps_total", "Sweeps that ended without an error.")
	m.queued = histogram("lipsync_request_queue_seconds",
		"Time from a request's creation to its first claim by a worker.", 1, 5, 15, 60, 300, 900, 3600, 4*3600, 24*3600)
	m.attempts = histogram("lipsync_request_attempts",
		"Attempts that a request took until it completed or failed; 0 if it was canceled before.", 0, 1, 2, lipsync.MaxAttempts)
	m.rendered = counter("lipsync_rendered_media_seconds_total", "Length of all rendered outputs.")
	m.renders = counter("lipsync_render_seconds_total", "Time that the rendering of those outputs took.")
	m.operations = histograms("operation", "lipsync_store_operation_duration_seconds",
		"Time that an operation of the database took.", .001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10)
	m.failures = counters("lipsync_store_operation_failures_total", "Operations of the database that failed by a fault of its own.", "operation")
	m.fetches = histograms("result", "lipsync_fetch_duration_seconds",
		"Time that the fetch of an input from a user's URL took, by its result.", .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200)
	m.posts = histograms("result", "lipsync_webhook_duration_seconds",
		"Time that an attempt to deliver an event to a webhook took, by its result: delivered, retried or undelivered.", .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 20)
	// A counter must exist before it is 1, or its first increase is not visible.
	m.finished.WithLabelValues(string(lipsync.Completed), "")
	for _, code := range []failure.Reason{failure.InternalFault, failure.HostFailing, failure.MediaUnreachable} {
		m.finished.WithLabelValues(string(lipsync.Failed), string(code))
		m.postponed.WithLabelValues(string(code))
	}
	m.fetches.WithLabelValues(fetched)
	for _, result := range []string{string(lipsync.DeliveryDelivered), retried, string(lipsync.DeliveryFailed)} {
		m.posts.WithLabelValues(result)
	}
	return m
}

// Handler serves GET /metrics and GET /readyz.
func (m *Monitor) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		// Metrics that can't be read are left out; all others are served.
		ErrorHandling: promhttp.ContinueOnError,
		ErrorLog:      slog.NewLogLogger(m.options.Log.Handler(), slog.LevelError),
	}))
	mux.Handle("GET /readyz", newReadiness(m.options.Checks))
	return mux
}

var _ lipsync.Watcher = (*Monitor)(nil)

func (m *Monitor) Created(lipsync.Request) { m.created.Inc() }

func (m *Monitor) Started(r lipsync.Request) {
	m.queued.Observe(r.StartedAt.Sub(r.CreatedAt).Seconds())
}

func (m *Monitor) Finished(r lipsync.Request) {
	m.finished.WithLabelValues(string(r.Status), string(r.Failure.Code)).Inc()
	m.attempts.Observe(float64(min(r.Attempts, lipsync.MaxAttempts)))
	if r.Unsigned() {
		m.unsigned.Inc()
	}
}

func (m *Monitor) Postponed(_ lipsync.Request, f failure.Failure) {
	m.postponed.WithLabelValues(string(f.Code)).Inc()
}

// Waiting does nothing, since state reads the age of the queue from
// the store.
func (m *Monitor) Waiting(time.Duration) {}

func (m *Monitor) Unreachable(hosts int) { m.unreachable.Set(float64(hosts)) }

func (m *Monitor) Failing(longest time.Duration) { m.failing.Set(longest.Seconds()) }

// Refused does nothing, since one machine has no bus.
func (m *Monitor) Refused(lipsync.BusEvent) {}

// CallNotNoted does nothing, since one machine keeps calls in its memory before it writes them.
func (m *Monitor) CallNotNoted() {}

// Sweep returns the sweep f, whose ends without an error are counted.
func (m *Monitor) Sweep(f func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := f(ctx)
		if err == nil {
			m.swept.Inc()
		}
		return err
	}
}

// retried is the result of an attempt at a delivery that is made again.
const retried = "retried"

func (m *Monitor) Posted(d lipsync.Delivery, took time.Duration) {
	result := string(d.State)
	if d.State.Pending() {
		result = retried
	}
	m.posts.WithLabelValues(result).Observe(took.Seconds())
}

// Operation records an operation on the database. Errors that the comment of a port names, and the caller's own cancellation, are not
// failures.
func (m *Monitor) Operation(ctx context.Context, operation string, took time.Duration, err error) {
	m.operations.WithLabelValues(operation).Observe(took.Seconds())
	failures := m.failures.WithLabelValues(operation) // creates the series with the value 0 too
	if failure.CodeOf(err) == failure.Internal && ctx.Err() == nil {
		failures.Inc()
	}
}

// fetched is the result of a successful fetch.
const fetched = "ok"

// Fetched records a fetch. Its result is a code of failure.Error, ok, or canceled.
func (m *Monitor) Fetched(ctx context.Context, took time.Duration, err error) {
	result := cmp.Or(string(failure.CodeOf(err)), fetched)
	if err != nil && ctx.Err() != nil {
		result = "canceled" // or released, or out of time
	}
	m.fetches.WithLabelValues(result).Observe(took.Seconds())
}

// Rendered records the length of an output, and the time that its rendering took.
func (m *Monitor) Rendered(length, took time.Duration) {
	m.rendered.Add(length.Seconds())
	m.renders.Add(took.Seconds())
}

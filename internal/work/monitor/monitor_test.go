package monitor

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// newMonitor returns a monitor of a service with a backlog.
func newMonitor(t *testing.T) *Monitor {
	return New(Options{
		Backlog: func(context.Context, time.Time) (lipsync.Backlog, error) {
			return lipsync.Backlog{Queued: 3, Processing: 2, WaitingSince: now.Add(-90 * time.Second)}, nil
		},
		Folder: t.TempDir(),
		Now:    func() time.Time { return now },
		Log:    slog.New(slog.DiscardHandler),
	})
}

// busy returns a monitor that has seen every kind of event.
func busy(t *testing.T) *Monitor {
	m := newMonitor(t)
	r := lipsync.Request{
		ID: "0a1b", Account: "acme", ReferenceID: "their-film", KeyID: "key-7", Video: lipsync.Input{URL: "https://films.example/secret.mp4"},
		CreatedAt: now, StartedAt: now.Add(20 * time.Second), FinishedAt: now.Add(time.Minute), Attempts: 2,
	}
	m.Created(r)
	m.Created(r)
	m.Created(r)
	m.Started(r)
	m.Waiting(time.Hour)
	m.Unreachable(4)
	m.Failing(20 * time.Minute)
	completed, failed, broken := r, r, r
	completed.Status, completed.Warnings = lipsync.Completed, order.NotSigned
	failed.Status, failed.Failure = lipsync.Failed, failure.Failure{Code: failure.MediaLongerThan, Details: failure.Details{
		Kind: failure.Video, Limit: failure.Quantity{Seconds: 3600}, Value: failure.Quantity{Seconds: 3690},
	}}
	broken.Status, broken.Failure = lipsync.Failed, failure.Failure{Code: failure.InternalFault}
	for _, r := range []lipsync.Request{completed, failed, broken} {
		m.Finished(r)
	}
	m.Postponed(r, failure.Failure{Code: failure.HostFailing})
	for _, state := range []lipsync.DeliveryState{lipsync.DeliveryDelivered, lipsync.DeliveryDelivered, lipsync.DeliveryWaiting, lipsync.DeliveryFailed} {
		m.Posted(lipsync.Delivery{ID: "msg_1", Webhook: "w", Account: "acme", State: state}, time.Second)
	}
	m.Rendered(10*time.Second, 4*time.Second)
	m.Rendered(2*time.Second, 2*time.Second)
	for _, err := range []error{nil, context.Canceled, &failure.Error{Code: failure.NotFound}} {
		m.Fetched(t.Context(), time.Second, err)
	}
	m.Operation(t.Context(), "get", time.Millisecond, nil)
	m.Operation(t.Context(), "create", time.Millisecond, errors.New("disk I/O error"))
	return m
}

func TestMetrics(t *testing.T) {
	m := busy(t)
	err := testutil.GatherAndCompare(m.registry, strings.NewReader(`
# HELP lipsync_attempts_put_off_total Attempts that failed and after which the request is tried again, by the code of the failure.
# TYPE lipsync_attempts_put_off_total counter
lipsync_attempts_put_off_total{code="host_failing"} 1
lipsync_attempts_put_off_total{code="internal"} 0
lipsync_attempts_put_off_total{code="media_unreachable"} 0
# HELP lipsync_host_failing_seconds Longest time for which faults of the machine have postponed a request again and again; 0 if they postpone none.
# TYPE lipsync_host_failing_seconds gauge
lipsync_host_failing_seconds 1200
# HELP lipsync_queue_age_seconds Time that the request has waited for a worker that has waited longest; 0 if none waits.
# TYPE lipsync_queue_age_seconds gauge
lipsync_queue_age_seconds 90
# HELP lipsync_outputs_not_signed_total Outputs without a signed manifest, although the service signs outputs and they can be signed.
# TYPE lipsync_outputs_not_signed_total counter
lipsync_outputs_not_signed_total 1
# HELP lipsync_render_seconds_total Time that the rendering of those outputs took.
# TYPE lipsync_render_seconds_total counter
lipsync_render_seconds_total 6
# HELP lipsync_rendered_media_seconds_total Length of all rendered outputs.
# TYPE lipsync_rendered_media_seconds_total counter
lipsync_rendered_media_seconds_total 12
# HELP lipsync_request_attempts Attempts that a request took until it completed or failed; 0 if it was canceled before.
# TYPE lipsync_request_attempts histogram
lipsync_request_attempts_bucket{le="0"} 0
lipsync_request_attempts_bucket{le="1"} 0
lipsync_request_attempts_bucket{le="2"} 3
lipsync_request_attempts_bucket{le="3"} 3
lipsync_request_attempts_bucket{le="+Inf"} 3
lipsync_request_attempts_sum 6
lipsync_request_attempts_count 3
# HELP lipsync_requests_created_total Requests that clients made.
# TYPE lipsync_requests_created_total counter
lipsync_requests_created_total 3
# HELP lipsync_requests_finished_total Requests that completed or failed, by the code of the failure.
# TYPE lipsync_requests_finished_total counter
lipsync_requests_finished_total{code="",status="completed"} 1
lipsync_requests_finished_total{code="host_failing",status="failed"} 0
lipsync_requests_finished_total{code="internal",status="failed"} 1
lipsync_requests_finished_total{code="media_longer_than",status="failed"} 1
lipsync_requests_finished_total{code="media_unreachable",status="failed"} 0
# HELP lipsync_requests_open Requests that are neither completed nor failed.
# TYPE lipsync_requests_open gauge
lipsync_requests_open{status="processing"} 2
lipsync_requests_open{status="queued"} 3
# HELP lipsync_sweeps_total Sweeps that ended without an error.
# TYPE lipsync_sweeps_total counter
lipsync_sweeps_total 0
# HELP lipsync_unreachable_hosts Different hosts of media, at least, that waiting requests could not reach; 1 if one host does not answer.
# TYPE lipsync_unreachable_hosts gauge
lipsync_unreachable_hosts 4
`), "lipsync_attempts_put_off_total", "lipsync_host_failing_seconds", "lipsync_outputs_not_signed_total", "lipsync_queue_age_seconds", "lipsync_render_seconds_total", "lipsync_rendered_media_seconds_total", "lipsync_request_attempts",
		"lipsync_requests_created_total", "lipsync_requests_finished_total", "lipsync_requests_open", "lipsync_sweeps_total", "lipsync_unreachable_hosts")
	if err != nil {
		t.Error(err)
	}
	for result, want := range map[string]uint64{"ok": 1, "internal": 1, "not_found": 1} {
		if got := count(t, m.fetches.WithLabelValues(result)); got != want {
			t.Errorf("fetches, %s: got %d, want %d", result, got, want)
		}
	}
	for result, want := range map[string]uint64{"delivered": 2, "retried": 1, "undelivered": 1} {
		if got := count(t, m.posts.WithLabelValues(result)); got != want {
			t.Errorf("posts, %s: got %d, want %d", result, got, want)
		}
	}
	free, size := gauge(t, m, "lipsync_disk_free_bytes"), gauge(t, m, "lipsync_disk_size_bytes")
	if free < 1 || free > size {
		t.Errorf("got %g bytes free of %g", free, size)
	}
}

// TestSweep counts sweeps that end without an error.
func TestSweep(t *testing.T) {
	m, broken := newMonitor(t), errors.New("broken")
	for n, want := range []error{nil, broken, nil} {
		if err := m.Sweep(func(context.Context) error { return want })(t.Context()); err != want {
			t.Errorf("sweep %d: got %v, want %v", n, err, want)
		}
	}
	if got := testutil.ToFloat64(m.swept); got != 2 {
		t.Errorf("got %g sweeps, want 2", got)
	}
}

// TestNames checks names, units and help texts against the conventions of Prometheus.
func TestNames(t *testing.T) {
	problems, err := testutil.GatherAndLint(busy(t).registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("got %v, %v, want no problems", problems, err)
	}
}

// TestNothingPrivate checks that the metrics have no account, reference, address or key, since
// anyone who reaches their address may read them. It also checks that they have only few series: at most 16 for each operation of
// the database, and 150 others.
func TestNothingPrivate(t *testing.T) {
	text := get(t, busy(t), "/metrics")
	for _, private := range []string{"acme", "films.example", "their-film", "key-7", "0a1b", "61.5"} {
		if strings.Contains(text, private) {
			t.Errorf("%q is in the metrics", private)
		}
	}
	ofOperations := strings.Count(text, `{operation="`)
	if others := strings.Count(text, "\nlipsync_") - ofOperations; others > 150 {
		t.Errorf("got %d series that are not of operations, want few", others)
	}
	operations := map[string]bool{}
	for _, found := range regexp.MustCompile(`{operation="([a-z_.]+)"`).FindAllStringSubmatch(text, -1) {
		operations[found[1]] = true
	}
	if ofOperations > 16*len(operations) || len(operations) != 2 {
		t.Errorf("got %d series of %d operations, want few", ofOperations, len(operations))
	}
}

// TestOperation checks that operations are measured, and that their failures are counted.
func TestOperation(t *testing.T) {
	m := newMonitor(t)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want float64
	}{
		{t.Context(), nil, 0},
		{t.Context(), &failure.Error{Code: failure.NotFound}, 0},
		{t.Context(), errors.New("disk I/O error"), 1},
		{canceled, context.Canceled, 1},
	} {
		m.Operation(c.ctx, "get", time.Second, c.err)
		if got := testutil.ToFloat64(m.failures.WithLabelValues("get")); got != c.want {
			t.Errorf("after %v: got %g failures, want %g", c.err, got, c.want)
		}
	}
	if got := count(t, m.operations.WithLabelValues("get")); got != 4 {
		t.Errorf("got %d operations, want 4", got)
	}
}

// TestUnreadable has a database that does not answer. All other metrics must be served.
func TestUnreadable(t *testing.T) {
	m := newMonitor(t)
	m.options.Backlog = func(context.Context, time.Time) (lipsync.Backlog, error) {
		return lipsync.Backlog{}, errors.New("disk I/O error")
	}
	text := get(t, m, "/metrics")
	for name, want := range map[string]bool{
		"\nlipsync_requests_open": false, "\nlipsync_queue_age_seconds": false,
		"\nlipsync_disk_free_bytes ": true, "\nlipsync_requests_created_total 0": true, "\ngo_goroutines ": true, "\nprocess_open_fds ": true,
	} {
		if got := strings.Contains(text, name); got != want {
			t.Errorf("%q: got %t, want %t", name, got, want)
		}
	}
}

func get(t *testing.T, m *Monitor, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: got %d: %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// count returns the number of values in a histogram.
func count(t *testing.T, o prometheus.Observer) uint64 {
	t.Helper()
	metric := new(dto.Metric)
	if err := o.(prometheus.Metric).Write(metric); err != nil {
		t.Fatal(err)
	}
	return metric.GetHistogram().GetSampleCount()
}

// gauge returns the value of a metric without labels.
func gauge(t *testing.T, m *Monitor, name string) float64 {
	t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// Package emf writes metrics as lines of CloudWatch's embedded metric format. That is JSON, which
// CloudWatch turns into metrics when it arrives with the logs. The other members of a line can be
// searched for in the logs, and cost nothing more.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
package emf

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"sync"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// Namespace returns CloudWatch's name space for the metrics of the stack with the name. Stacks of an account don't count in each other's alarms.
func Namespace(stack string) string { return "Lipsync/" + stack }

// These are units, as CloudWatch names them.
const (
	count   = "Count"
	seconds = "Seconds"
	ratio   = "None"
)

// Metrics writes what it watches as metrics of CloudWatch.
type Metrics struct {
	namespace string
	now       func() time.Time
	mu        sync.Mutex
	w         io.Writer
}

// New returns metrics of the stack with the name. They are written to w.
func New(w io.Writer, now func() time.Time, stack string) *Metrics {
	return &Metrics{w: w, now: now, namespace: Namespace(stack)}
}

var _ lipsync.Watcher = (*Metrics)(nil)

func (m *Metrics) Created(r lipsync.Request) {
	m.write(about(r), "", metric{"RequestsCreated", count, 1})
}

func (m *Metrics) Started(r lipsync.Request) {
	m.write(about(r), "", metric{"QueueWait", seconds, r.StartedAt.Sub(r.CreatedAt).Seconds()})
}

// Finished counts the end of a request, a failure by its code as the dimension; the line
// has its details too.
func (m *Metrics) Finished(r lipsync.Request) {
	attempts := metric{"Attempts", count, float64(r.Attempts)}
	if r.Status == lipsync.Completed {
		metrics := []metric{{"RequestsCompleted", count, 1}, attempts}
		if r.Unsigned() {
			metrics = append(metrics, metric{"OutputsNotSigned", count, 1})
		}
		m.write(about(r), "", metrics...)
		return
	}
	members := about(r)
	members["Code"], members["details"] = r.Failure.Code, r.Failure.Details
	m.write(members, "Code", metric{"RequestsFailed", count, 1})
	m.write(about(r), "", attempts)
}

func (m *Metrics) Postponed(r lipsync.Request, f failure.Failure) {
	members := about(r)
	members["Code"], members["details"] = f.Code, f.Details
	m.write(members, "Code", metric{"AttemptsPutOff", count, 1})
}

func (m *Metrics) Waiting(oldest time.Duration) {
	m.write(map[string]any{}, "", metric{"OldestQueued", seconds, oldest.Seconds()})
}

func (m *Metrics) Unreachable(hosts int) {
	m.write(map[string]any{}, "", metric{"UnreachableHosts", count, float64(hosts)})
}

func (m *Metrics) Failing(longest time.Duration) {
	m.write(map[string]any{}, "", metric{"HostFailing", seconds, longest.Seconds()})
}

func (m *Metrics) Refused(e lipsync.BusEvent) {
	m.write(map[string]any{"event": e.ID}, "", metric{"EventsRefused", count, 1})
}

func (m *Metrics) CallNotNoted() {
	m.write(map[string]any{}, "", metric{"CallsNotNoted", count, 1})
}

// Posted counts an attempt that failed as EventsRetried or, if it was the
// last one, as EventsUndelivered.
func (m *Metrics) Posted(d lipsync.Delivery, took time.Duration) {
	name := "EventsRetried"
	switch d.State {
	case lipsync.DeliveryDelivered:
		name = "EventsDelivered"
	case lipsync.DeliveryFailed:
		name = "EventsUndelivered"
	}
	m.write(map[string]any{"account": d.Account, "webhook": d.Webhook, "delivery": d.ID, "status": d.Status}, "",
		metric{name, count, 1}, metric{"WebhookTime", seconds, took.Seconds()})
}

// MessagesFailed counts the messages of a batch that could not be handled and will come again. AWS
// counts no error for a function that reports them one by one.
func (m *Metrics) MessagesFailed(n int) {
	m.write(map[string]any{}, "", metric{"MessagesFailed", count, float64(n)})
}

// Fetched counts the files that were fetched. The count shows that the network works.
func (m *Metrics) Fetched(_ context.Context, _ time.Duration, err error) {
	if err == nil {
		m.write(map[string]any{}, "", metric{"MediaFetched", count, 1})
	}
}

// Rendered records how many seconds of output a second of rendering made.
func (m *Metrics) Rendered(length, took time.Duration) {
	m.write(map[string]any{}, "", metric{"RenderSpeed", ratio, length.Seconds() / took.Seconds()})
}

// about returns the members of a line that identify the request.
func about(r lipsync.Request) map[string]any {
	return map[string]any{"account": r.Account, "request": r.ID}
}

// metric is one value.
type metric struct {
	name, unit string
	value      float64
}

// directive tells CloudWatch which members of a line are metrics.
type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []definition
}

type definition struct{ Name, Unit string }

// write writes one line with the members and metrics. Each metric is counted without a dimension
// and, if dimension names a member, also by that member.
func (m *Metrics) write(members map[string]any, dimension string, metrics ...metric) {
	d := directive{Namespace: m.namespace, Dimensions: [][]string{{}}}
	if dimension != "" {
		d.Dimensions = append(d.Dimensions, []string{dimension})
	}
	for _, v := range metrics {
		d.Metrics = append(d.Metrics, definition{v.name, v.unit})
		members[v.name] = math.Round(v.value*1000) / 1000
	}
	members["_aws"] = map[string]any{"Timestamp": m.now().UnixMilli(), "CloudWatchMetrics": []directive{d}}
	line, err := json.Marshal(members)
	if err != nil {
		return // a speed over zero time is not a number
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, _ = m.w.Write(append(line, '\n')) // a failed write of a metric can't be reported anywhere
}

package emf_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"lipsync/internal/aws/emf"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// sent returns a delivery after an attempt.
func sent(state lipsync.DeliveryState, status int) lipsync.Delivery {
	return lipsync.Delivery{ID: "msg_1", Webhook: "w", Account: "a", State: state, Status: status, Attempts: 1}
}

func TestLines(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_123)
	r := lipsync.Request{
		ID: "id", Account: "a", CreatedAt: now.Add(-10 * time.Second), StartedAt: now.Add(-8500 * time.Millisecond),
		FinishedAt: now, Attempts: 2,
	}
	completed, failed := r, r
	completed.Status = lipsync.Completed
	unsigned := completed
	unsigned.Warnings = order.NotSigned
	webM := unsigned
	webM.Options.Output.Format = order.WebM
	failed.Status, failed.Failure = lipsync.Failed, failure.Failure{Code: failure.MediaLongerThan, Details: failure.Details{
		Kind: failure.Video, Limit: failure.Quantity{Seconds: 3600}, Value: failure.Quantity{Seconds: 3660},
	}}
	unreachable := failure.Failure{Code: failure.MediaUnreachable, Details: failure.Details{Kind: failure.Audio}}
	var _ lipsync.Watcher = (*emf.Metrics)(nil)
	for name, c := range map[string]struct {
		tell func(*emf.Metrics)
		want []string
	}{
		"created": {func(m *emf.Metrics) { m.Created(r) }, []string{
			`{"RequestsCreated":1,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"RequestsCreated","Unit":"Count"}]}],"Timestamp":1790000000123},"account":"a","request":"id"}`,
		}},
		"started": {func(m *emf.Metrics) { m.Started(r) }, []string{
			`{"QueueWait":1.5,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"QueueWait","Unit":"Seconds"}]}],"Timestamp":1790000000123},"account":"a","request":"id"}`,
		}},
		"completed": {func(m *emf.Metrics) { m.Finished(completed) }, []string{
			`{"Attempts":2,"RequestsCompleted":1,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"RequestsCompleted","Unit":"Count"},{"Name":"Attempts","Unit":"Count"}]}],"Timestamp":1790000000123},"account":"a","request":"id"}`,
		}},
		"not signed": {func(m *emf.Metrics) { m.Finished(unsigned) }, []string{
			`{"Attempts":2,"OutputsNotSigned":1,"RequestsCompleted":1,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"RequestsCompleted","Unit":"Count"},{"Name":"Attempts","Unit":"Count"},{"Name":"OutputsNotSigned","Unit":"Count"}]}],"Timestamp":1790000000123},"account":"a","request":"id"}`,
		}},
		"WebM, which can't be signed": {func(m *emf.Metrics) { m.Finished(webM) }, []string{
			`{"Attempts":2,"RequestsCompleted":1,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"RequestsCompleted","Unit":"Count"},{"Name":"Attempts","Unit":"Count"}]}],"Timestamp":1790000000123},"account":"a","request":"id"}`,
		}},
		"failed": {func(m *emf.Metrics) { m.Finished(failed) }, []string{
			`{"Code":"media_longer_than","RequestsFailed":1,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[],["Code"]],"Metrics":[{"Name":"RequestsFailed","Unit":"Count"}]}],"Timestamp":1790000000123},"account":"a","details":{"kind":"video","limit":{"seconds":3600},"value":{"seconds":3660}},"request":"id"}`,
			`{"Attempts":2,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"Attempts","Unit":"Count"}]}],"Timestamp":1790000000123},"account":"a","request":"id"}`,
		}},
		"postponed": {func(m *emf.Metrics) { m.Postponed(r, unreachable) }, []string{
			`{"AttemptsPutOff":1,"Code":"media_unreachable","_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[],["Code"]],"Metrics":[{"Name":"AttemptsPutOff","Unit":"Count"}]}],"Timestamp":1790000000123},"account":"a","details":{"kind":"audio"},"request":"id"}`,
		}},
		"waiting": {func(m *emf.Metrics) { m.Waiting(90 * time.Second) }, []string{
			`{"OldestQueued":90,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"OldestQueued","Unit":"Seconds"}]}],"Timestamp":1790000000123}}`,
		}},
		"unreachable": {func(m *emf.Metrics) { m.Unreachable(3) }, []string{
			`{"UnreachableHosts":3,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"UnreachableHosts","Unit":"Count"}]}],"Timestamp":1790000000123}}`,
		}},
		"failing": {func(m *emf.Metrics) { m.Failing(20 * time.Minute) }, []string{
			`{"HostFailing":1200,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"HostFailing","Unit":"Seconds"}]}],"Timestamp":1790000000123}}`,
		}},
		"refused": {func(m *emf.Metrics) { m.Refused(lipsync.BusEvent{ID: "msg_1"}) }, []string{
			`{"EventsRefused":1,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"EventsRefused","Unit":"Count"}]}],"Timestamp":1790000000123},"event":"msg_1"}`,
		}},
		"call not noted": {func(m *emf.Metrics) { m.CallNotNoted() }, []string{
			`{"CallsNotNoted":1,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"CallsNotNoted","Unit":"Count"}]}],"Timestamp":1790000000123}}`,
		}},
		"delivered": {func(m *emf.Metrics) { m.Posted(sent(lipsync.DeliveryDelivered, 200), 1500*time.Millisecond) }, []string{
			`{"EventsDelivered":1,"WebhookTime":1.5,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"EventsDelivered","Unit":"Count"},{"Name":"WebhookTime","Unit":"Seconds"}]}],"Timestamp":1790000000123},"account":"a","delivery":"msg_1","status":200,"webhook":"w"}`,
		}},
		"delivery retried": {func(m *emf.Metrics) { m.Posted(sent(lipsync.DeliveryWaiting, 503), time.Second) }, []string{
			`{"EventsRetried":1,"WebhookTime":1,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"EventsRetried","Unit":"Count"},{"Name":"WebhookTime","Unit":"Seconds"}]}],"Timestamp":1790000000123},"account":"a","delivery":"msg_1","status":503,"webhook":"w"}`,
		}},
		"undelivered": {func(m *emf.Metrics) { m.Posted(sent(lipsync.DeliveryFailed, 410), time.Second) }, []string{
			`{"EventsUndelivered":1,"WebhookTime":1,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"EventsUndelivered","Unit":"Count"},{"Name":"WebhookTime","Unit":"Seconds"}]}],"Timestamp":1790000000123},"account":"a","delivery":"msg_1","status":410,"webhook":"w"}`,
		}},
		"messages": {func(m *emf.Metrics) { m.MessagesFailed(2) }, []string{
			`{"MessagesFailed":2,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"MessagesFailed","Unit":"Count"}]}],"Timestamp":1790000000123}}`,
		}},
		"fetched": {func(m *emf.Metrics) { m.Fetched(t.Context(), time.Second, nil) }, []string{
			`{"MediaFetched":1,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"MediaFetched","Unit":"Count"}]}],"Timestamp":1790000000123}}`,
		}},
		"not fetched": {func(m *emf.Metrics) { m.Fetched(t.Context(), time.Second, io.EOF) }, nil},
		"rendered": {func(m *emf.Metrics) { m.Rendered(2*time.Second, 3*time.Second) }, []string{
			`{"RenderSpeed":0.667,"_aws":{"CloudWatchMetrics":[{"Namespace":"Lipsync/Trial","Dimensions":[[]],"Metrics":[{"Name":"RenderSpeed","Unit":"None"}]}],"Timestamp":1790000000123}}`,
		}},
		"rendered in no time": {func(m *emf.Metrics) { m.Rendered(time.Second, 0) }, nil},
	} {
		var w strings.Builder
		c.tell(emf.New(&w, func() time.Time { return now }, "Trial"))
		want := ""
		for _, line := range c.want {
			want += line + "\n"
		}
		if got := w.String(); got != want {
			t.Errorf("%s: got\n%swant\n%s", name, got, want)
		}
	}
}

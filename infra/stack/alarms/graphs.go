package alarms

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// addGraphs adds the operator's graphs: alarms, calls of clients, work on requests, events, media, and
// the parts of the stack.
func (w *watch) addGraphs() {
	var alarms []interfacesawscloudwatch.IAlarmRef
	for _, a := range w.raised {
		alarms = append(alarms, a)
	}
	awscloudwatch.NewDashboard(w.Stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		Widgets: &[]*[]awscloudwatch.IWidget{
			{awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
				Title: jsii.String("Alarms"), Alarms: &alarms, Width: jsii.Number(24),
			})},
			{
				graph("Calls", w.apiMetric("Count", "Sum"), w.apiMetric("4XXError", "Sum"), w.apiMetric("5XXError", "Sum"), w.ours("CallsNotNoted", "Sum")),
				graph("Time of a call, ms", w.apiMetric("Latency", "p50"), w.apiMetric("Latency", "p99")),
			},
			{
				graph("Requests", w.ours("RequestsCreated", "Sum"), w.ours("RequestsCompleted", "Sum"), w.ours("RequestsFailed", "Sum"), w.ours("AttemptsPutOff", "Sum"), w.ours("OutputsNotSigned", "Sum"), w.ownFaults()),
				graph("Waiting, seconds", w.ours("OldestQueued", "Maximum"), w.ours("QueueWait", "p50"), w.ours("QueueWait", "p99")),
			},
			{
				graph("Rendering, times real time", w.ours("RenderSpeed", "p50"), w.ours("RenderSpeed", "Minimum")),
				graph("Attempts for a request", w.ours("Attempts", "Average"), w.ours("Attempts", "Maximum")),
			},
			{
				graph("Events", w.ours("EventsDelivered", "Sum"), w.ours("EventsRetried", "Sum"), w.ours("EventsUndelivered", "Sum"), w.ours("EventsRefused", "Sum")),
				graph("Time of webhooks, seconds", w.ours("WebhookTime", "p50"), w.ours("WebhookTime", "p99")),
			},
			{
				graph("Media", w.ours("MediaFetched", "Sum"), w.ours("UnreachableHosts", "Maximum")),
				graph("Faults of machines, seconds", w.ours("HostFailing", "Maximum")),
			},
			{
				graph("Messages", w.queueMetric("ApproximateNumberOfMessagesVisible", "Maximum"), w.deadLetters()),
				graph("Functions", w.clientSum("Errors"), w.clientSum("Throttles"), w.backgroundFailures(), w.sweeps()),
			},
			{
				graph("Units of the table", w.tableMetric("ConsumedReadCapacityUnits"), w.tableMetric("ConsumedWriteCapacityUnits")),
				graph("Throttled by DynamoDB", w.tableThrottles()),
			},
		},
	})
}

// graph returns a graph that is half a row wide.
func graph(title string, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
		Title: jsii.String(title), Left: &metrics, Width: jsii.Number(12), Height: jsii.Number(6),
	})
}

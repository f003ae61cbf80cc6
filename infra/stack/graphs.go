package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// addGraphs adds the operator's graphs: alarms, calls of clients, work on requests, events, media, and
// the parts of the stack.
func (s *service) addGraphs() {
	var alarms []interfacesawscloudwatch.IAlarmRef
	for _, a := range s.raised {
		alarms = append(alarms, a)
	}
	awscloudwatch.NewDashboard(s.stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		Widgets: &[]*[]awscloudwatch.IWidget{
			{awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
				Title: jsii.String("Alarms"), Alarms: &alarms, Width: jsii.Number(24),
			})},
			{
				graph("Calls", s.apiMetric("Count", "Sum"), s.apiMetric("4XXError", "Sum"), s.apiMetric("5XXError", "Sum"), s.ours("CallsNotNoted", "Sum")),
				graph("Time of a call, ms", s.apiMetric("Latency", "p50"), s.apiMetric("Latency", "p99")),
			},
			{
				graph("Requests", s.ours("RequestsCreated", "Sum"), s.ours("RequestsCompleted", "Sum"), s.ours("RequestsFailed", "Sum"), s.ours("AttemptsPutOff", "Sum"), s.ours("OutputsNotSigned", "Sum"), s.ownFaults()),
				graph("Waiting, seconds", s.ours("OldestQueued", "Maximum"), s.ours("QueueWait", "p50"), s.ours("QueueWait", "p99")),
			},
			{
				graph("Rendering, times real time", s.ours("RenderSpeed", "p50"), s.ours("RenderSpeed", "Minimum")),
				graph("Attempts for a request", s.ours("Attempts", "Average"), s.ours("Attempts", "Maximum")),
			},
			{
				graph("Events", s.ours("EventsDelivered", "Sum"), s.ours("EventsRetried", "Sum"), s.ours("EventsUndelivered", "Sum"), s.ours("EventsRefused", "Sum")),
				graph("Time of webhooks, seconds", s.ours("WebhookTime", "p50"), s.ours("WebhookTime", "p99")),
			},
			{
				graph("Media", s.ours("MediaFetched", "Sum"), s.ours("UnreachableHosts", "Maximum")),
				graph("Faults of machines, seconds", s.ours("HostFailing", "Maximum")),
			},
			{
				graph("Messages", s.queueMetric("ApproximateNumberOfMessagesVisible", "Maximum"), s.deadLetters()),
				graph("Functions", s.clientSum("Errors"), s.clientSum("Throttles"), s.backgroundFailures(), s.sweeps()),
			},
			{
				graph("Units of the table", s.tableMetric("ConsumedReadCapacityUnits"), s.tableMetric("ConsumedWriteCapacityUnits")),
				graph("Throttled by DynamoDB", s.tableThrottles()),
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

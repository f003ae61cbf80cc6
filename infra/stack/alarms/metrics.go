package alarms

import (
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/aws/emf"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/settings"
	"lipsync/internal/store/dynamodb/table"
)

// metric returns a metric with periods of five minutes.
func metric(namespace, name, statistic string, dimensions map[string]*string) awscloudwatch.Metric {
	props := &awscloudwatch.MetricProps{
		Namespace:  jsii.String(namespace),
		MetricName: jsii.String(name),
		Statistic:  jsii.String(statistic),
		Period:     awscdk.Duration_Minutes(jsii.Number(5)),
	}
	if len(dimensions) > 0 {
		props.DimensionsMap = &dimensions
	}
	return awscloudwatch.NewMetric(props)
}

// namespace returns the name space of the stack's own metrics.
func namespace(values *settings.Values) string { return emf.Namespace(settings.Name.In(values)) }

// ours returns a metric that the service's programs write in their logs, or that counts the lines of a log.
func ours(values *settings.Values, name, statistic string) awscloudwatch.Metric {
	return metric(namespace(values), name, statistic, nil)
}

func (w *watch) ours(name, statistic string) awscloudwatch.Metric {
	return ours(w.Values, name, statistic)
}

// ofCode returns the sum of a metric for one code of failures.
func (w *watch) ofCode(name string, code failure.Reason) awscloudwatch.Metric {
	return metric(namespace(w.Values), name, "Sum", map[string]*string{"Code": jsii.String(string(code))})
}

// unreachableHosts returns the number of different hosts of media that can't be reached. It is 0
// while any host can be reached: then the hosts fail, and not the service's network.
func (w *watch) unreachableHosts() awscloudwatch.IMetric {
	return expression("unreachable", "IF(FILL(fetched, 0) > 0, 0, hosts)", map[string]awscloudwatch.IMetric{
		"fetched": w.ours("MediaFetched", "Sum"),
		"hosts":   w.ours("UnreachableHosts", "Maximum"),
	})
}

// ownFaults counts the requests that failed through a fault of the service or of its machines.
func (w *watch) ownFaults() awscloudwatch.IMetric {
	var metrics []awscloudwatch.IMetric
	for _, code := range []failure.Reason{failure.InternalFault, failure.HostFailing} {
		metrics = append(metrics, w.ofCode("RequestsFailed", code))
	}
	return sum("ownFaults", metrics...)
}

func (w *watch) apiMetric(name, statistic string) awscloudwatch.Metric {
	return metric("AWS/ApiGateway", name, statistic,
		map[string]*string{"ApiName": jsii.String(settings.Name.In(w.Values)), "Stage": jsii.String(w.Stage)})
}

func (w *watch) functionMetric(function, name, statistic string) awscloudwatch.Metric {
	return metric("AWS/Lambda", name, statistic,
		map[string]*string{"FunctionName": w.Functions[function].FunctionName()})
}

// CountCalls counts the lines of the access log in which a member has the value, in a metric of the stack's own.
func CountCalls(stack awscdk.Stack, values *settings.Values, log awslogs.ILogGroup, name, member, value string) awscloudwatch.Metric {
	awslogs.NewMetricFilter(stack, jsii.String(name), &awslogs.MetricFilterProps{
		LogGroup:        log,
		FilterPattern:   awslogs.FilterPattern_StringValue(jsii.String("$."+member), jsii.String("="), jsii.String(value)),
		MetricNamespace: jsii.String(namespace(values)),
		MetricName:      jsii.String(name),
		MetricValue:     jsii.String("1"),
	})
	return ours(values, name, "Sum")
}

// serverErrors counts the calls that failed through a fault of the service. It leaves out calls of
// accounts at their storage limit.
func (w *watch) serverErrors() awscloudwatch.IMetric {
	return expression("serverErrors", "failed - FILL(refused, 0)", map[string]awscloudwatch.IMetric{
		"failed":  w.apiMetric("5XXError", "Sum"),
		"refused": w.StorageRefused,
	})
}

func (w *watch) queueMetric(name, statistic string) awscloudwatch.Metric {
	return metric("AWS/SQS", name, statistic, map[string]*string{"QueueName": w.Queue.QueueName()})
}

func (w *watch) deadLetters() awscloudwatch.Metric {
	return metric("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum",
		map[string]*string{"QueueName": w.Dead.QueueName()})
}

func (w *watch) tableMetric(name string) awscloudwatch.Metric {
	return metric("AWS/DynamoDB", name, "Sum", map[string]*string{"TableName": w.Table.TableName()})
}

// indexMetric returns a metric of the table's index. The table's metrics do not include the index's
// throttling.
func (w *watch) indexMetric(name string) awscloudwatch.Metric {
	return metric("AWS/DynamoDB", name, "Sum", map[string]*string{
		"TableName": w.Table.TableName(), "GlobalSecondaryIndexName": jsii.String(table.OpenIndex),
	})
}

func (w *watch) tableThrottles() awscloudwatch.IMetric {
	const read, write = "ReadThrottleEvents", "WriteThrottleEvents"
	return sum("throttles", w.tableMetric(read), w.tableMetric(write), w.indexMetric(read), w.indexMetric(write))
}

// tableUnits adds up the units of the table. The units of its index are among them.
func (w *watch) tableUnits() awscloudwatch.IMetric {
	return sum("units", w.tableMetric("ConsumedReadCapacityUnits"), w.tableMetric("ConsumedWriteCapacityUnits"))
}

// ofLambda returns the sum of a metric of all functions of the account and region, which share a quota.
func ofLambda(name string) awscloudwatch.Metric { return metric("AWS/Lambda", name, "Sum", nil) }

// expiry returns the number of days for which a certificate is valid. Certificate Manager tells it twice a day.
func expiry(arn string) awscloudwatch.IMetric {
	return metric("AWS/CertificateManager", "DaysToExpiry", "Minimum", map[string]*string{"CertificateArn": jsii.String(arn)}).With(
		&awscloudwatch.MetricOptions{Period: awscdk.Duration_Days(jsii.Number(1))})
}

// share returns how many hundredths of all a part is. It is 0 while the part is less than the floor, since one of few calls is a large share.
func share(label string, floor int, part, all awscloudwatch.IMetric) awscloudwatch.IMetric {
	return expression(label, "IF(FILL(part, 0) < "+strconv.Itoa(floor)+", 0, 100 * part / FILL(all, 1))", map[string]awscloudwatch.IMetric{"part": part, "all": all})
}

// clientSum adds up a metric of the functions behind the API.
func (w *watch) clientSum(name string) awscloudwatch.IMetric {
	return w.functionSum("client"+name, name, w.ClientFunctions)
}

// backgroundFailures adds up the failures of the functions in the background, and the messages and changes that they could not
// handle, which do not count as errors of a function.
func (w *watch) backgroundFailures() awscloudwatch.IMetric {
	failures := []awscloudwatch.IMetric{w.ours("MessagesFailed", "Sum")}
	for _, name := range w.Background {
		if _, there := w.Functions[name]; there {
			failures = append(failures, w.functionMetric(name, "Errors", "Sum"))
		}
	}
	return sum("backgroundFailures", failures...)
}

// eventsNotDelivered counts failed attempts to deliver an event within an hour, in which one event is
// tried four times. It is 0 if any event was delivered: then webhooks fail, and not the service.
func (w *watch) eventsNotDelivered() awscloudwatch.IMetric {
	return expression("notDelivered", "IF(FILL(delivered, 0) > 0, 0, FILL(retried, 0) + FILL(undelivered, 0))", map[string]awscloudwatch.IMetric{
		"delivered":   w.ours("EventsDelivered", "Sum"),
		"retried":     w.ours("EventsRetried", "Sum"),
		"undelivered": w.ours("EventsUndelivered", "Sum"),
	}).With(&awscloudwatch.MathExpressionOptions{Period: awscdk.Duration_Hours(jsii.Number(1))})
}

// jobsFailed counts the events in the log of failed jobs.
func (w *watch) jobsFailed() awscloudwatch.Metric {
	return metric("AWS/Logs", "IncomingLogEvents", "Sum", map[string]*string{"LogGroupName": w.FailedJobs.LogGroupName()})
}

func (w *watch) functionSum(id, name string, functions []string) awscloudwatch.IMetric {
	var metrics []awscloudwatch.IMetric
	for _, f := range functions {
		metrics = append(metrics, w.functionMetric(f, name, "Sum"))
	}
	return sum(id, metrics...)
}

// sweeps counts the completed sweeps.
func (w *watch) sweeps() awscloudwatch.IMetric {
	return expression("sweeps", "sweepCalls - sweepErrors", map[string]awscloudwatch.IMetric{
		"sweepCalls":  w.functionMetric("sweep", "Invocations", "Sum"),
		"sweepErrors": w.functionMetric("sweep", "Errors", "Sum"),
	})
}

// sum returns the sum of metrics. A metric without a value in a period counts as 0; otherwise the
// sum would have no value. The id starts with a small letter and is unique in an alarm or graph.
func sum(id string, metrics ...awscloudwatch.IMetric) awscloudwatch.IMetric {
	named := map[string]awscloudwatch.IMetric{}
	var terms []string
	for i, m := range metrics {
		operand := id + strconv.Itoa(i)
		named[operand] = m
		terms = append(terms, "FILL("+operand+", 0)")
	}
	return expression(id, strings.Join(terms, " + "), named)
}

func expression(label, text string, metrics map[string]awscloudwatch.IMetric) awscloudwatch.MathExpression {
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Label:        jsii.String(label),
		Expression:   jsii.String(text),
		UsingMetrics: &metrics,
		Period:       awscdk.Duration_Minutes(jsii.Number(5)),
	})
}

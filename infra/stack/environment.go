package stack

import (
	"strconv"

	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/settings"
)

// processors is a variable that Go's runtime reads: the number of cores that a program uses.
const processors = "GOMAXPROCS"

// environment returns the environment variables of a program that uses the number of cores and
// needs the settings.
func (s *service) environment(cores int, needs ...settings.Entry) *map[string]*string {
	values := map[string]*string{processors: jsii.String(strconv.Itoa(cores))}
	for _, e := range needs {
		if value := s.value(e); *value != "" { // which is an optional setting that the operator did not make
			values[e.Line().Env()] = value
		}
	}
	return &values
}

// value returns the value of a setting for a program: the operator's choice, or the name or address
// of a part of the stack.
func (s *service) value(e settings.Entry) *string {
	if e.Line().Where&settings.Stack != 0 {
		return jsii.String(e.EnvValue(s.Values))
	}
	switch e {
	case settings.Table:
		return s.table.TableName()
	case settings.Bucket:
		return s.bucket.BucketName()
	case settings.QueueURL:
		return s.queue.QueueUrl()
	case settings.DeliveriesURL:
		return s.deliveries.QueueUrl()
	case settings.JobQueue:
		return s.plain().queue.JobQueueArn()
	case settings.JobDefinition:
		return s.plain().definition.JobDefinitionArn()
	case settings.MaxWorkers:
		return jsii.String(strconv.Itoa(s.maxWorkers(s.plain())))
	case settings.MaxNeuralWorkers:
		return jsii.String(strconv.Itoa(s.maxWorkers(s.neural())))
	case settings.MediaRole:
		return s.mediaRole.RoleArn()
	case settings.BrokerFunction:
		return s.functions["broker"].FunctionName()
	case settings.Issuer:
		return jsii.String("https://" + *s.users.UserPoolProviderName())
	case settings.ClientID:
		return s.client.UserPoolClientId()
	case settings.SignOutURL:
		return jsii.String(*s.domain.BaseUrl(nil) + "/logout")
	case settings.SecretARN:
		return s.secret.SecretArn()
	case settings.PublicURL:
		return jsii.String(s.host())
	case settings.Scratch:
		return jsii.String(scratch)
	case settings.Models:
		return jsii.String(models)
	default:
		panic("no value for " + e.Line().Name)
	}
}

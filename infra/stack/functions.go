package stack

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/aws/gateway"
	"lipsync/internal/domain/settings"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/store/dynamodb/callers"
	"lipsync/internal/store/dynamodb/queue"
)

// Timeouts in seconds. The sweep runs each minute.
const (
	apiTimeout      = int(gateway.Timeout / time.Second)
	deliverTimeout  = 60 // for two calls of a webhook, one after the other
	dispatchTimeout = 30
	publishTimeout  = 60 // for some tries at a few calls of the bus
	sweepTimeout    = 55
)

// lambda is a function of the service. api.go and events.go define what calls it.
type lambda struct {
	name    string
	timeout int // seconds
	memory  int // MiB; the share of a CPU grows with it
	policy  policy
}

// lambdas returns every function but broker and small with its rights, except the right to sign URLs: see
// signers.
func (s *service) lambdas() []lambda {
	all := s.apiLambdas()
	if s.publishes() {
		all = append(all, s.publisher())
	}
	return append(all, []lambda{
		s.tools(),
		{
			name: "dashboard", timeout: apiTimeout, memory: 512,
			policy: append(append(s.exercise(dynamodb.DashboardRights()), s.deleteObjects()...),
				s.send(), s.announce(), s.readSecret(),
				s.useObjects("uploads", "GetObject"), s.useObjects("inputs", "GetObject"), s.useObjects("outputs", "GetObject"),
				s.useObjects("batches", "PutObject", "AbortMultipartUpload", "DeleteObject")),
		},
		{
			name: "deliver", timeout: deliverTimeout, memory: 512,
			policy: policy{
				onKeys(s.useTable("Query"), []string{"request/*"}),
				onKeys(s.useTable("DeleteItem", "GetItem", "UpdateItem"), dynamodb.DelivererKeys()), s.announce(),
				onKeys(s.useTable("GetItem"), []string{dynamodb.BatchKeys()}),
			},
		},
		{
			name: "dispatch", timeout: dispatchTimeout, memory: 512,
			policy: policy{
				onKeys(s.useTable("GetItem", "Query", "UpdateItem"), []string{queue.PoolKey}), s.queryOpen(), s.submit(), listJobs(),
			},
		},
		{
			name: "sweep", timeout: sweepTimeout, memory: 512,
			policy: append(s.exercise(dynamodb.SweepRights()),
				s.submit(), listJobs(), s.announce(), s.send(),
				s.useObjects("batches", "GetObject", "DeleteObject"),
				s.useObjects("inputs", "DeleteObject"), s.useObjects("uploads", "GetObject", "DeleteObject"), s.useObjects("outputs", "DeleteObject"),
				s.useObjects("pieces", "DeleteObject"), s.missObjects()),
		},
	}...)
}

// authenticate allows to read a key, store its last use, and count calls in the lanes of its rate.
func (s *service) authenticate() policy {
	return policy{onKeys(s.useTable("BatchGetItem", "GetItem", "UpdateItem"), callers.CheckedKeys())}
}

// read allows to read requests and lists of them.
func (s *service) read() awsiam.PolicyStatement {
	return s.useTable("BatchGetItem", "GetItem", "Query")
}

// add allows to make and change requests and the items that change with them.
func (s *service) add() awsiam.PolicyStatement {
	return onKeys(s.useTable("PutItem", "UpdateItem"), dynamodb.ChangedKeys())
}

// change allows to delete them too.
func (s *service) change() awsiam.PolicyStatement {
	return onKeys(s.useTable("DeleteItem", "PutItem", "UpdateItem"), dynamodb.ChangedKeys())
}

// deleteObjects allows to delete all media of a request, with the parts of unfinished uploads. It allows
// to read the lines of batches, which may wait to use an upload.
func (s *service) deleteObjects() policy {
	return policy{
		s.missObjects(), s.listParts(),
		s.useObjects("inputs", "DeleteObject", "AbortMultipartUpload"), s.useObjects("outputs", "DeleteObject", "AbortMultipartUpload"),
		s.useObjects("pieces", "DeleteObject", "AbortMultipartUpload"), s.useObjects("uploads", "DeleteObject"),
		s.useObjects("findings", "DeleteObject", "AbortMultipartUpload"), s.useObjects("batches", "GetObject"),
	}
}

// submit allows to start the runners with any revision of their job definitions. During an update of
// the stack, dispatch still uses the last revision.
func (s *service) submit() awsiam.PolicyStatement {
	const name = 5 // arn:aws:batch:REGION:ACCOUNT:job-definition/NAME:REVISION
	var on []*string
	for _, f := range s.fleets {
		definition := awscdk.Fn_Select(jsii.Number(name), awscdk.Fn_Split(jsii.String(":"), f.definition.JobDefinitionArn(), nil))
		on = append(on, f.queue.JobQueueArn(), jsii.String("arn:"+*s.stack.Partition()+":batch:"+*s.stack.Region()+":"+*s.stack.Account()+":"+*definition+":*"))
	}
	return allow([]string{"batch:SubmitJob"}, on...)
}

// listJobs allows to list jobs. AWS has no narrower right.
func listJobs() awsiam.PolicyStatement {
	return allow([]string{"batch:ListJobs"}, jsii.String("*"))
}

func allow(actions []string, resources ...*string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions:   jsii.Strings(actions...),
		Resources: &resources,
	})
}

// addFunctions adds the functions, and the roles that sign URLs for some of them.
func (s *service) addFunctions() {
	lambdas, roles := s.lambdas(), map[string]awsiam.Role{}
	for _, l := range lambdas {
		if s.small != nil && starts(l.name) {
			l.policy = append(l.policy, allow([]string{"lambda:InvokeFunction"}, s.small.FunctionArn()))
		}
		roles[l.name] = s.functionRole(l)
	}
	s.addSigners(roles)
	if s.small != nil {
		s.functions[smallName] = s.small
	}
	for _, l := range lambdas {
		s.functions[l.name] = s.function(l, roles[l.name])
	}
}

// id returns the function's name in CloudFormation, such as GetRequest. The graphs already have the
// name Dashboard, and a name can't change its type.
func (l lambda) id() string {
	if l.name == "dashboard" {
		return "DashboardPages"
	}
	var id strings.Builder
	for word := range strings.SplitSeq(l.name, "-") {
		id.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return id.String()
}

func (s *service) functionRole(l lambda) awsiam.Role {
	role := awsiam.NewRole(s.stack, jsii.String(l.id()+"Role"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
	})
	for _, statement := range l.policy {
		role.AddToPolicy(statement)
	}
	return role
}

func (s *service) function(l lambda, role awsiam.Role) awslambda.Function {
	log := s.logGroup(l.id() + "Log")
	log.GrantWrite(role)
	variables := s.environment(1, variables(l.name)...) // Lambda gives each function a part of one core; with a larger number Go starts slower
	if signer, ok := s.signerOf[l.name]; ok {
		(*variables)[settings.SignerRole.Env()], (*variables)[settings.SignerPool.Env()] = signer.role.RoleArn(), signer.pool.Ref()
	}
	if s.small != nil && starts(l.name) {
		(*variables)[settings.SmallFunction.Env()] = s.small.FunctionArn()
	}
	if f := s.neural(); f != nil && starts(l.name) {
		(*variables)[settings.NeuralQueue.Env()], (*variables)[settings.NeuralDefinition.Env()] = f.queue.JobQueueArn(), f.definition.JobDefinitionArn()
	}
	return awslambda.NewFunction(s.stack, jsii.String(l.id()), &awslambda.FunctionProps{
		Runtime:       awslambda.Runtime_PROVIDED_AL2023(),
		Architecture:  s.architecture(),
		Handler:       jsii.String("bootstrap"),
		Code:          awslambda.Code_FromAsset(jsii.String(filepath.Join(settings.FunctionsFolder.In(s.Values), l.name)), nil),
		Role:          role,
		Timeout:       awscdk.Duration_Seconds(jsii.Number(l.timeout)),
		MemorySize:    jsii.Number(l.memory),
		Environment:   variables,
		Tracing:       awslambda.Tracing_ACTIVE,
		LogGroup:      log,
		LoggingFormat: awslambda.LoggingFormat_JSON,

		ReservedConcurrentExecutions: s.reserved(l.name),
	})
}

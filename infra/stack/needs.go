package stack

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"

	"lipsync/internal/lipsync"
	"lipsync/internal/rest"
	"lipsync/internal/settings"
)

// grant has the variables and the rights of a function.
type grant struct {
	variables []settings.Entry
	policy    []awsiam.PolicyStatement
}

// apiLambdas returns the functions of the API, from the table of endpoints. For endpoints that
// share a function the first one counts, since they need no key and no rights.
func (s *service) apiLambdas() []lambda {
	var all []lambda
	for _, e := range rest.Endpoints() {
		if slices.ContainsFunc(all, func(l lambda) bool { return l.name == e.Function }) {
			continue
		}
		l := lambda{name: e.Function, timeout: apiTimeout, memory: e.Memory, variables: []settings.Entry{settings.CORSOrigins}}
		l.add(s.checkKey(e.Calls))
		for _, n := range e.Needs {
			l.add(s.grant(n))
		}
		all = append(all, l)
	}
	return all
}

func (l *lambda) add(g grant) {
	l.variables = append(l.variables, g.variables...)
	l.policy = append(l.policy, g.policy...)
}

// checkKey returns the grant to check a key and its rate for calls of the kind. It is empty for
// endpoints without a key.
func (s *service) checkKey(kind lipsync.CallKind) grant {
	switch kind {
	case lipsync.ReadCall:
		return grant{[]settings.Entry{settings.Table, settings.ReadRate}, statements(s.authenticate())}
	case lipsync.GenerateCall:
		return grant{[]settings.Entry{settings.Table, settings.GenerateRate, settings.Engines}, statements(s.authenticate())}
	default:
		return grant{}
	}
}

// grant returns the grant for a need of an endpoint.
func (s *service) grant(n rest.Need) grant {
	limits := []settings.Entry{settings.MaxVideo, settings.MaxAudio, settings.MaxOpenRequests, settings.MaxStored, settings.MaxKeys, settings.KeepInputs, settings.KeepOutputs}
	switch n {
	case rest.ListEngines:
		return grant{variables: []settings.Entry{settings.Engines}}
	case rest.ListRequests:
		return grant{policy: statements(s.read(), s.queryOpen())}
	case rest.ReadRequests:
		return grant{policy: statements(s.read())}
	case rest.CreateRequests:
		return grant{append(limits, settings.QueueURL), statements(s.create(), s.queryOpen(), s.send())}
	case rest.CancelRequests:
		return grant{[]settings.Entry{settings.Bucket}, statements(s.read(), s.change(), s.useObjects("inputs", "DeleteObject"), s.useObjects("outputs", "DeleteObject"))}
	case rest.ReadUploads:
		return grant{[]settings.Entry{settings.Bucket}, statements(s.useObjects("uploads", "GetObject"), s.missObjects())}
	case rest.CreateUploads:
		return grant{limits, statements(s.useTable("PutItem", "Query"))}
	case rest.StoreInputs:
		return grant{[]settings.Entry{settings.Bucket}, statements(s.useObjects("inputs", "PutObject", "AbortMultipartUpload", "DeleteObject"))}
	case rest.DeleteMedia:
		return grant{[]settings.Entry{settings.Bucket}, s.deleteMedia()}
	case rest.SignURLs: // a separate role does it: see signers
		return grant{variables: []settings.Entry{settings.Bucket, settings.KeepInputs, settings.KeepOutputs}}
	case rest.KnowRetention:
		return grant{variables: []settings.Entry{settings.KeepInputs, settings.KeepOutputs}}
	default:
		panic("no rights are known for the need to " + string(n))
	}
}

func statements(all ...awsiam.PolicyStatement) []awsiam.PolicyStatement { return all }

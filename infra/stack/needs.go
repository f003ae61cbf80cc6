package stack

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/rest"
)

// policy has the rights of a function.
type policy = []awsiam.PolicyStatement

// need is a row of the tables of needs: the parts and the rights that a function has for one need.
type need struct {
	parts  []string              // of the function's program, as its source names them
	policy func(*service) policy // nil for no rights
}

// needs is the table of the needs of endpoints. To add a need, add its name in package rest and a
// row here.
var needs = map[rest.Need]need{
	rest.ListEngines:  {parts: []string{"cloud.Engines"}},
	rest.ListRequests: {policy: func(s *service) policy { return policy{s.read(), s.queryOpen()} }},
	rest.ReadRequests: {policy: func(s *service) policy { return policy{s.read()} }},
	rest.CreateRequests: {
		parts:  []string{"messages.Queue", "cloud.Sizes", "cloud.Limits", "cloud.Retention"},
		policy: func(s *service) policy { return policy{s.create(), s.queryOpen(), s.send()} },
	},
	rest.ReadOutputs: {
		parts: []string{"media.Kept", "cloud.Retention"},
		policy: func(s *service) policy {
			return policy{s.read(), s.useObjects("outputs", "GetObject"), s.missObjects()}
		},
	},
	rest.KnowQueue: {
		parts:  []string{"cloud.Workers"},
		policy: func(s *service) policy { return policy{s.read(), s.queryOpen()} },
	},
	rest.CancelRequests: {
		parts: []string{"media.Kept", "messages.Deliveries"},
		policy: func(s *service) policy {
			return policy{
				s.read(), s.change(), s.announce(), s.useObjects("inputs", "DeleteObject"), s.useObjects("outputs", "DeleteObject"),
				s.useObjects("pieces", "DeleteObject"), s.missObjects(),
			}
		},
	},
	rest.ReadUploads: {
		parts:  []string{"media.Kept"},
		policy: func(s *service) policy { return policy{s.useObjects("uploads", "GetObject"), s.missObjects()} },
	},
	rest.CreateUploads: {
		parts:  []string{"cloud.Sizes", "cloud.Limits", "cloud.Retention"},
		policy: func(s *service) policy { return policy{s.useTable("PutItem", "Query")} },
	},
	rest.StoreInputs: {
		parts: []string{"media.Kept"},
		policy: func(s *service) policy {
			return policy{s.useObjects("inputs", "PutObject", "AbortMultipartUpload", "DeleteObject")}
		},
	},
	rest.MakeBatches: {
		parts: []string{"cloud.Engines", "media.Kept"},
		policy: func(s *service) policy {
			return policy{s.useObjects("batches", "GetObject", "PutObject", "AbortMultipartUpload", "DeleteObject")}
		},
	},
	rest.CloseBatches: {
		policy: func(s *service) policy { return policy{s.useObjects("batches", "DeleteObject")} },
	},
	rest.DeleteMedia:   {parts: []string{"media.Kept"}, policy: (*service).deleteMedia},
	rest.SignURLs:      {parts: []string{"media.Signed", "cloud.Retention"}}, // a separate role has the rights: see signers
	rest.KnowRetention: {parts: []string{"cloud.Retention"}},
	rest.UseWebhooks: {
		parts:  []string{"messages.Deliveries"},
		policy: func(s *service) policy { return policy{s.useTable("PutItem", "Query"), s.announce()} },
	},
}

// keyNeeds is the table of the needs of a call with a key, by the kind of the call: to check the key
// and to count the call in its rate. It has no row for endpoints without a key.
var keyNeeds = map[lipsync.CallKind]need{
	lipsync.ReadCall:     {parts: []string{"cloud.Records", "cloud.Reading"}, policy: (*service).authenticate},
	lipsync.GenerateCall: {parts: []string{"cloud.Records", "cloud.Generating"}, policy: (*service).authenticate},
}

// needsOf returns the rows of the tables for an endpoint.
func needsOf(e rest.Endpoint) []need {
	all := []need{{parts: []string{"cloud.Origins"}}, keyNeeds[e.Calls]}
	for _, name := range e.Needs {
		n, known := needs[name]
		if !known {
			panic("infra/stack/needs.go has no row for the need to " + string(name))
		}
		all = append(all, n)
	}
	return all
}

// Parts returns the parts of the program of an endpoint's function: names in package cloud and the
// packages below it, sorted.
func Parts(e rest.Endpoint) []string {
	var all []string
	for _, n := range needsOf(e) {
		all = append(all, n.parts...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// apiLambdas returns the functions of the API, from the table of endpoints. For endpoints that
// share a function the first one counts, since they need no key and no rights.
func (s *service) apiLambdas() []lambda {
	var all []lambda
	for _, e := range rest.Endpoints() {
		if slices.ContainsFunc(all, func(l lambda) bool { return l.name == e.Function }) {
			continue
		}
		l := lambda{name: e.Function, timeout: apiTimeout, memory: memoryFor(e), parts: Parts(e)}
		for _, n := range needsOf(e) {
			if n.policy != nil {
				l.policy = append(l.policy, n.policy(s)...)
			}
		}
		all = append(all, l)
	}
	return all
}

// toolFunctions has the functions of the endpoints that the tools of assistants call.
var toolFunctions = []string{
	"me", "generate", "analyze", "estimate", "list-requests", "get-request", "get-progress", "get-details", "get-analysis", "get-estimate",
	"cancel-request", "create-upload", "create-batch", "read-batches", "cancel-batch",
}

// tools returns the function of the tools of assistants. It makes the calls of several endpoints in its own process.
func (s *service) tools() lambda {
	l := lambda{name: "mcp", timeout: apiTimeout, memory: 512}
	for _, other := range s.apiLambdas() {
		if slices.Contains(toolFunctions, other.name) {
			l.parts, l.policy = append(l.parts, other.parts...), append(l.policy, other.policy...)
		}
	}
	return l
}

// memoryFor returns the memory of an endpoint's function in MiB.
func memoryFor(e rest.Endpoint) int {
	switch {
	case e.Calls == "":
		return 256 // its program links nothing of AWS
	case slices.Contains(e.Needs, rest.StoreInputs):
		return 1024 // an event with a form, of up to 6 MiB, is several times in memory
	default:
		return 512
	}
}

// settingsOf has the settings that each part of a program reads, except for those of signers.
var settingsOf = map[string][]settings.Entry{
	"bus.Events":          {settings.EventBus},
	"cloud.Demand":        nil,
	"cloud.Engines":       {settings.Engines},
	"cloud.Generating":    {settings.GenerateRate, settings.Engines, settings.RequireProvenance},
	"cloud.Limits":        {settings.MaxOpenRequests, settings.MaxStored, settings.MaxKeys},
	"cloud.Origins":       {settings.CORSOrigins},
	"cloud.Provenance":    {settings.RequireProvenance},
	"cloud.Reading":       {settings.ReadRate},
	"cloud.Records":       {settings.Table},
	"cloud.Retention":     {settings.KeepInputs, settings.KeepOutputs},
	"cloud.Sizes":         {settings.MaxVideo, settings.MaxAudio},
	"cloud.Workers":       {settings.MaxWorkers},
	"jobs.Pool":           {settings.JobQueue, settings.JobDefinition, settings.MaxWorkers},
	"media.Kept":          {settings.Bucket},
	"media.Signed":        {settings.Bucket},
	"messages.Deliveries": {settings.DeliveriesURL},
	"messages.Queue":      {settings.QueueURL},
	"posts.Client":        nil,
	"pages.New":           {settings.Issuer, settings.ClientID, settings.SignOutURL, settings.SecretARN, settings.PublicURL},
}

// variables returns the settings that the parts of a function's program read.
func (l lambda) variables() []settings.Entry {
	var all []settings.Entry
	for _, part := range l.parts {
		entries, known := settingsOf[part]
		if !known {
			panic("infra/stack/needs.go has no settings of the part " + part)
		}
		all = append(all, entries...)
	}
	return all
}

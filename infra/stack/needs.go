package stack

import (
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/cloud/bus"
	"lipsync/internal/aws/cloud/jobs"
	"lipsync/internal/aws/cloud/media"
	"lipsync/internal/aws/cloud/messages"
	"lipsync/internal/aws/cloud/pages"
	"lipsync/internal/aws/cloud/posts"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/rest"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/store/dynamodb/callers"
)

// policy has the rights of a function.
type policy = []awsiam.PolicyStatement

// parts are parts of a function's program.
type parts = []cloud.Part

// need is a row of the tables of needs: the parts and the rights that a function has for one need.
type need struct {
	parts  parts                 // of the function's program
	policy func(*service) policy // nil for no rights
}

// needs is the table of the needs of endpoints. To add a need, add its name in package rest and a
// row here.
var needs = map[rest.Need]need{
	rest.ListEngines:  {parts: parts{cloud.Engines}, policy: func(s *service) policy { return policy{s.read()} }},
	rest.ListRequests: {policy: func(s *service) policy { return policy{s.read(), s.queryOpen()} }},
	rest.ReadRequests: {policy: func(s *service) policy { return policy{s.read()} }},
	rest.CreateRequests: {
		parts:  parts{messages.Queue, cloud.Sizes, cloud.Limits, cloud.Retention},
		policy: func(s *service) policy { return policy{s.read(), s.add(), s.queryOpen(), s.send()} },
	},
	rest.ReadOutputs: {
		parts: parts{media.Kept, cloud.Retention},
		policy: func(s *service) policy {
			return policy{s.read(), s.useObjects("outputs", "GetObject"), s.missObjects()}
		},
	},
	rest.KnowQueue: {
		parts:  parts{cloud.Workers},
		policy: func(s *service) policy { return policy{s.read(), s.queryOpen()} },
	},
	rest.CancelRequests: {
		parts: parts{media.Kept, messages.Deliveries},
		policy: func(s *service) policy {
			return policy{
				s.read(), s.change(), s.announce(), s.useObjects("inputs", "DeleteObject"), s.useObjects("outputs", "DeleteObject"),
				s.useObjects("pieces", "DeleteObject"), s.missObjects(),
			}
		},
	},
	rest.ReadUploads: {
		parts: parts{media.Kept},
		policy: func(s *service) policy {
			return policy{onKeys(s.useTable("GetItem"), []string{dynamodb.UploadKeys()}), s.useObjects("uploads", "GetObject"), s.missObjects()}
		},
	},
	rest.CreateUploads: {
		parts: parts{messages.Queue, cloud.Sizes, cloud.Limits, cloud.Retention},
		policy: func(s *service) policy {
			return policy{onKeys(s.useTable("GetItem"), []string{"usage/*"}), s.useTable("Query"), s.add(), s.send()}
		},
	},
	rest.StoreInputs: {
		parts: parts{media.Kept},
		policy: func(s *service) policy {
			return policy{s.useObjects("inputs", "PutObject", "AbortMultipartUpload", "DeleteObject")}
		},
	},
	rest.MakeBatches: {
		parts: parts{cloud.Engines, media.Kept},
		policy: func(s *service) policy {
			return policy{s.useObjects("batches", "GetObject", "PutObject", "AbortMultipartUpload", "DeleteObject")}
		},
	},
	rest.CloseBatches: {
		policy: func(s *service) policy { return policy{s.useObjects("batches", "DeleteObject")} },
	},
	rest.DeleteMedia: {
		parts: parts{media.Kept},
		policy: func(s *service) policy {
			return append(s.deleteObjects(), s.read(), s.change(), onKeys(s.useTable("DeleteItem"), []string{callers.CallKeys}), s.queryOpen())
		},
	},
	rest.SignURLs:      {parts: parts{media.Signed, cloud.Retention}}, // a separate role has the rights: see signers
	rest.KnowRetention: {parts: parts{cloud.Retention}},
	rest.UseWebhooks: {
		parts: parts{messages.Deliveries},
		policy: func(s *service) policy {
			return policy{s.useTable("GetItem", "Query"), s.add(), s.queryOpen(), s.announce()}
		},
	},
}

// keyNeeds is the table of the needs of a call with a key, by the kind of the call: to check the key
// and to count the call in its rate. It has no row for endpoints without a key.
var keyNeeds = map[lipsync.CallKind]need{
	lipsync.ReadCall:     {parts: parts{cloud.Records, cloud.Reading}, policy: (*service).authenticate},
	lipsync.GenerateCall: {parts: parts{cloud.Records, cloud.Generating}, policy: (*service).authenticate},
}

// needsOf returns the rows of the tables for an endpoint.
func needsOf(e rest.Endpoint) []need {
	all := []need{{parts: parts{cloud.Origins}}, keyNeeds[e.Calls]}
	for _, name := range e.Needs {
		n, known := needs[name]
		if !known {
			panic("infra/stack/needs.go has no row for the need to " + string(name))
		}
		all = append(all, n)
	}
	return all
}

// PartNames returns the names of the functions that are the parts of the program of a function, with the paths of their packages.
func PartNames(function string) (names []string) {
	for _, p := range partsFor(function) {
		names = append(names, nameOf(p))
	}
	return names
}

// partsFor returns the parts of the program of a function. (The function health is written by hand, and only reads the settings of its parts.)
func partsFor(function string) parts {
	if listed := otherParts[function]; listed != nil {
		return listed
	}
	var all parts
	for _, e := range rest.Endpoints() {
		if e.Function == function || function == "mcp" && slices.Contains(toolFunctions, e.Function) {
			for _, n := range needsOf(e) {
				all = append(all, n.parts...)
			}
		}
	}
	same := func(a, b cloud.Part) bool { return nameOf(a) == nameOf(b) }
	if slices.ContainsFunc(all, func(p cloud.Part) bool { return same(p, media.Signed) }) {
		all = slices.DeleteFunc(all, func(p cloud.Part) bool { return same(p, media.Kept) }) // which the other one includes
	}
	slices.SortFunc(all, func(a, b cloud.Part) int { return strings.Compare(nameOf(a), nameOf(b)) })
	return slices.CompactFunc(all, same)
}

// nameOf returns the name of a part's function, with the path of its package.
func nameOf(p cloud.Part) string { return runtime.FuncForPC(reflect.ValueOf(p).Pointer()).Name() }

// OtherFunctions returns the functions that have parts, and no endpoint of the API.
func OtherFunctions() []string { return append(slices.Sorted(maps.Keys(otherParts)), "mcp") }

// otherParts has the parts of the functions that serve no endpoint.
var otherParts = map[string]parts{
	"dashboard": {
		cloud.Records, media.Signed, messages.Queue, messages.Deliveries, cloud.Generating, cloud.Reading, cloud.Sizes, cloud.Limits, cloud.Retention, cloud.Workers,
	},
	"deliver":  {cloud.Records, media.Signed, messages.Deliveries, posts.Client, cloud.Retention},
	"dispatch": {cloud.Records, cloud.Demand, jobs.Pool},
	"broker":   {cloud.Records, media.Kept, cloud.Demand, messages.Queue, messages.Deliveries, cloud.Broker},
	"publish":  {media.Signed, bus.Events, cloud.Retention},
	"sweep": {
		cloud.Records, media.Kept, cloud.Demand, jobs.Pool, cloud.Engines, cloud.Provenance, cloud.Sizes, cloud.Limits, cloud.Retention, messages.Queue,
		messages.Deliveries,
	},
}

// apiLambdas returns the functions of the API, from the table of endpoints. For endpoints that
// share a function the first one counts, since they need no key and no rights.
func (s *service) apiLambdas() []lambda {
	var all []lambda
	for _, e := range rest.Endpoints() {
		if slices.ContainsFunc(all, func(l lambda) bool { return l.name == e.Function }) {
			continue
		}
		l := lambda{name: e.Function, timeout: apiTimeout, memory: memoryFor(e)}
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
			l.policy = append(l.policy, other.policy...)
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

// variables returns the settings that the parts of a function's program read, without those that the stack leaves alone or sets elsewhere.
func variables(function string) []settings.Entry {
	d := &cloud.Deployment{Settings: settings.Environment(func(string) string { return "" })}
	for _, add := range partsFor(function) {
		add(d)
	}
	if function == "dashboard" { // whose pages have settings too
		pages.Read(d.Settings)
	}
	all := append(d.Settings.Read(), settings.Name) // which all programs read
	return slices.DeleteFunc(all, func(e settings.Entry) bool { return e.Line().Optional && e.Line().Where&settings.Stack == 0 })
}

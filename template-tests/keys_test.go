package templatetests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/http/cors"
	"lipsync/internal/http/rest"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/store/dynamodb/table"
	"lipsync/internal/test/check"
	"lipsync/internal/test/dynamodbtest"
	"lipsync/internal/test/lipsynctest"
	"lipsync/internal/test/resttest"
)

// guard passes the calls of DynamoDB on to a table in memory, and records those that the role of the function that makes them does not allow.
type guard struct {
	table aws.HTTPClient
	store *dynamodb.Store
	roles map[string][]statement // by functions

	mu      sync.Mutex
	refused map[string]bool
	used    map[string]map[string]bool // the rights that functions used
	written map[string]bool            // the kinds of partitions that the tests themselves wrote
}

// newGuard returns a guard of an empty table for the functions.
func newGuard(t *testing.T, functions ...string) *guard {
	g := &guard{roles: map[string][]statement{}, refused: map[string]bool{}, used: map[string]map[string]bool{}, written: map[string]bool{}}
	for _, f := range functions {
		g.roles[f], g.used[f] = deployed().statements(t, logical(f)+"RoleDefaultPolicy"), map[string]bool{}
	}
	table := &dynamodbtest.Table{
		Keys:  dynamodbtest.Keys{Partition: table.PartitionKey, Sort: table.SortKey},
		Index: dynamodbtest.Keys{Partition: table.OpenPartition, Sort: table.OpenSort},
	}
	config := table.Config()
	g.table, config.HTTPClient = config.HTTPClient, g
	g.store = dynamodb.New(config, "t")
	return g
}

// check fails the test for each call that a role does not allow, and for each function that made none.
func (g *guard) check(t *testing.T) {
	for refused := range g.refused {
		t.Error(refused)
	}
	for function := range g.roles {
		if len(g.used[function]) == 0 {
			t.Errorf("%s made no call that it may make", function)
		}
	}
}

// checkUsed fails the test for each right to the table that the function did not use.
func (g *guard) checkUsed(t *testing.T, function string) {
	for _, s := range g.roles[function] {
		for _, action := range list(s.Action) {
			for _, resource := range list(s.Resource) {
				if !strings.HasPrefix(short(resource), "Table") {
					continue
				}
				for _, pattern := range leadingKeys(s) {
					if right := fmt.Sprint(action, " ", short(resource), " of ", pattern); !g.used[function][right] {
						t.Errorf("%s never used its right to %s", function, right)
					}
				}
			}
		}
	}
}

type functionOf struct{}

// as returns a context in which the function makes the calls.
func as(ctx context.Context, function string) context.Context {
	return context.WithValue(ctx, functionOf{}, function)
}

// access is an action of IAM on an item, or on a part of the table's index.
type access struct {
	action, resource, key string
}

var keyCondition = regexp.MustCompile(`#(pk|open) = (:\w+)`)

// accesses returns what IAM checks for a call.
func accesses(operation string, body []byte) (all []access) {
	type item map[string]struct{ S string }
	var call struct {
		Key, Item, ExpressionAttributeValues item
		KeyConditionExpression               string
		RequestItems                         map[string]struct{ Keys []item }
		TransactItems                        []map[string]struct{ Key, Item item }
	}
	must(json.Unmarshal(body, &call))
	add := func(action, resource, key string) {
		all = append(all, access{"dynamodb:" + action, resource, key})
	}
	key := func(key, whole item) string {
		if key != nil {
			return key[table.PartitionKey].S
		}
		return whole[table.PartitionKey].S
	}
	switch operation {
	case "Query":
		found := keyCondition.FindStringSubmatch(call.KeyConditionExpression)
		if found == nil {
			panic("unknown condition " + call.KeyConditionExpression)
		}
		add(operation, map[string]string{"pk": "Table", "open": "Table/index/open"}[found[1]], call.ExpressionAttributeValues[found[2]].S)
	case "BatchGetItem":
		for _, of := range call.RequestItems {
			for _, k := range of.Keys {
				add(operation, "Table", key(k, nil))
			}
		}
	case "TransactWriteItems":
		for _, step := range call.TransactItems {
			for kind, s := range step {
				add(map[string]string{"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}[kind], "Table", key(s.Key, s.Item))
			}
		}
	default:
		add(operation, "Table", key(call.Key, call.Item))
	}
	return all
}

// leadingKeys returns the patterns of partition keys to which a statement is restricted, or "*".
func leadingKeys(s statement) []string {
	text, err := json.Marshal(s.Condition)
	must(err)
	if string(text) == "null" {
		return []string{"*"}
	}
	var condition map[string]map[string][]string
	must(json.Unmarshal(text, &condition))
	return condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
}

// allowing returns the rights of the statements that allow the access.
func allowing(statements []statement, a access) (rights []string) {
	for _, s := range statements {
		if !slices.Contains(list(s.Action), a.action) || !slices.ContainsFunc(list(s.Resource), func(r string) bool { return short(r) == a.resource }) {
			continue
		}
		for _, pattern := range leadingKeys(s) {
			if prefix, star := strings.CutSuffix(pattern, "*"); star && strings.HasPrefix(a.key, prefix) || pattern == a.key {
				rights = append(rights, fmt.Sprint(a.action, " ", a.resource, " of ", pattern))
			}
		}
	}
	return rights
}

// Do implements the SDK's HTTP client.
func (g *guard) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	function, _ := r.Context().Value(functionOf{}).(string)
	g.mu.Lock()
	for _, a := range accesses(operation, body) {
		g.note(function, a)
	}
	g.mu.Unlock()
	return g.table.Do(r)
}

// note records an access of a function, or of the tests themselves for "".
func (g *guard) note(function string, a access) {
	kind, _, _ := strings.Cut(a.key, "/")
	if function == "" {
		if a.action == "dynamodb:PutItem" || a.action == "dynamodb:UpdateItem" {
			g.written[kind] = true
		}
		return
	}
	rights := allowing(g.roles[function], a)
	if len(rights) == 0 {
		g.refused[fmt.Sprint(function, " may not ", a.action, " ", a.resource, " of ", kind)] = true
	}
	for _, right := range rights {
		g.used[function][right] = true
	}
}

// TestLeadingKeys calls all of the API, and checks that the role of each endpoint's function allows what the function does with the table, item by item.
func TestLeadingKeys(t *testing.T) {
	var functions []string
	for _, e := range rest.Endpoints() {
		if e.Calls != "" {
			functions = append(functions, e.Function)
		}
	}
	g := newGuard(t, functions...)
	objects, err := disk.Open(t.TempDir(), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer objects.Close()
	service := lipsynctest.NewService(t, base.Config{GenerateRate: 60, ReadRate: 600, MaxVideo: 2 << 20, MaxAudio: 1 << 20, Engines: []string{"warp", "wav2lip"}},
		base.Ports{Store: g.store.Store, Objects: objects, Hints: lossy{}})
	api := cors.Allow([]string{"*"}, rest.New(service, rest.Options{Log: slog.New(slog.DiscardHandler)}))
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.Handle(disk.Prefix, objects.Handler())
	for _, e := range rest.Endpoints() {
		mux.HandleFunc(e.Method+" "+rest.Base+e.Path, func(w http.ResponseWriter, r *http.Request) {
			api.ServeHTTP(w, r.WithContext(as(r.Context(), e.Function)))
		})
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	resttest.Run(t, resttest.Target{
		URL: server.URL, Client: server.Client(), NewKey: resttest.KeysOf(service),
		GenerateRate: service.GenerateRate, ReadRate: service.ReadRate, MaxVideo: service.MaxVideo, MaxAudio: service.MaxAudio,
		Differs: map[string]string{"routes/unknown_path///health": "the test's own router", "routes/unknown_path//v1//users/me": "the test's own router"},
	})
	service.Limits.Stored = 2 << 20 // so that this is more than half of it
	token, _, err := service.CreateKey(t.Context(), "half", "test", 0)
	check.Must(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+rest.Base+rest.UploadsPath, strings.NewReader(`{"type": "video", "size": 1500000}`))
	check.Must(t, err)
	r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
	response, err := server.Client().Do(r)
	check.Must(t, err)
	response.Body.Close()
	check.Want(t, "status of an upload", response.StatusCode, http.StatusOK)
	g.check(t)
}

// lossy is a queue that loses all messages.
type lossy struct{}

func (lossy) Send(context.Context, lipsync.Request) error { return nil }

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

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/http/rest"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/dynamodbtest"
	"lipsync/internal/test/lipsynctest"
	"lipsync/internal/test/resttest"
)

// guard passes the calls of DynamoDB on to a table in memory, and records those that the role of the function that makes them does not allow.
type guard struct {
	table aws.HTTPClient
	roles map[string][]statement // by functions

	mu      sync.Mutex
	refused map[string]bool
	allowed map[string]bool // functions with an allowed call
}

type functionOf struct{}

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
			return key[dynamodb.PartitionKey].S
		}
		return whole[dynamodb.PartitionKey].S
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

// allows reports whether one of the statements allows the access.
func allows(statements []statement, a access) bool {
	return slices.ContainsFunc(statements, func(s statement) bool {
		if !slices.Contains(list(s.Action), a.action) || !slices.ContainsFunc(list(s.Resource), func(r string) bool { return short(r) == a.resource }) {
			return false
		}
		var condition map[string]map[string][]string
		text, err := json.Marshal(s.Condition)
		must(err)
		if string(text) == "null" {
			return true
		}
		must(json.Unmarshal(text, &condition))
		return slices.ContainsFunc(condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"], func(pattern string) bool {
			prefix, star := strings.CutSuffix(pattern, "*")
			return star && strings.HasPrefix(a.key, prefix) || pattern == a.key
		})
	})
}

// Do implements the SDK's HTTP client.
func (g *guard) Do(r *http.Request) (*http.Response, error) {
	function, _ := r.Context().Value(functionOf{}).(string)
	if function == "" { // a call of the tests themselves
		return g.table.Do(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	g.mu.Lock()
	for _, a := range accesses(operation, body) {
		if g.allowed[function] = true; !allows(g.roles[function], a) {
			kind, _, _ := strings.Cut(a.key, "/")
			g.refused[fmt.Sprint(function, " may not ", a.action, " ", a.resource, " of ", kind)] = true
		}
	}
	g.mu.Unlock()
	return g.table.Do(r)
}

// TestLeadingKeys calls all of the API, and checks that the role of each endpoint's function allows what the function does with the table, item by item.
func TestLeadingKeys(t *testing.T) {
	g := &guard{roles: map[string][]statement{}, refused: map[string]bool{}, allowed: map[string]bool{}}
	for _, e := range rest.Endpoints() {
		if e.Calls != "" {
			g.roles[e.Function] = deployed().statements(t, logical(e.Function)+"RoleDefaultPolicy")
		}
	}
	table := &dynamodbtest.Table{
		Keys:  dynamodbtest.Keys{Partition: dynamodb.PartitionKey, Sort: dynamodb.SortKey},
		Index: dynamodbtest.Keys{Partition: dynamodb.OpenPartition, Sort: dynamodb.OpenSort},
	}
	config := table.Config()
	g.table, config.HTTPClient = config.HTTPClient, g
	objects, err := disk.Open(t.TempDir(), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer objects.Close()
	service := lipsynctest.NewService(t, lipsync.Config{GenerateRate: 60, ReadRate: 600, MaxVideo: 2 << 20, MaxAudio: 1 << 20, Engines: []string{"warp", "wav2lip"}},
		lipsync.Ports{Store: dynamodb.New(config, "t").Store, Objects: objects, Queue: lossy{}})
	api := rest.AllowOrigins([]string{"*"}, rest.New(service, rest.Options{Log: slog.New(slog.DiscardHandler)}))
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.Handle(disk.Prefix, objects.Handler())
	for _, e := range rest.Endpoints() {
		mux.HandleFunc(e.Method+" "+rest.Base+e.Path, func(w http.ResponseWriter, r *http.Request) {
			api.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), functionOf{}, e.Function)))
		})
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	resttest.Run(t, resttest.Target{
		URL: server.URL, Client: server.Client(), NewKey: resttest.KeysOf(service),
		GenerateRate: service.GenerateRate, ReadRate: service.ReadRate, MaxVideo: service.MaxVideo, MaxAudio: service.MaxAudio,
		Differs: map[string]string{"routes/unknown_path///health": "the test's own router", "routes/unknown_path//v1//users/me": "the test's own router"},
	})
	for refused := range g.refused {
		t.Error(refused)
	}
	for function := range g.roles {
		if !g.allowed[function] {
			t.Errorf("%s was never called", function)
		}
	}
}

// lossy is a queue that loses all messages.
type lossy struct{}

func (lossy) Send(context.Context, lipsync.Request) error { return nil }

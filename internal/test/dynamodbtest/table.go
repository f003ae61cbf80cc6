// Package dynamodbtest has a DynamoDB table in memory. It answers the calls of one store, and
// refuses those that AWS refuses. It can be as slow as AWS: simultaneous transactions on one item
// cancel each other, and a partition allows a number of writes a second.
package dynamodbtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Keys has the names of the attributes of a key, which are strings.
type Keys struct{ Partition, Sort string }

// Table is one table with one index. Set its fields once, before use. It implements
// aws.HTTPClient.
type Table struct {
	Keys  Keys
	Index Keys // the index has items with both attributes, and all other attributes

	// Call is the duration of a call, in both directions. Transaction is the time for which a
	// transaction locks its items. 0 means no time.
	Call, Transaction time.Duration
	// Units is the number of write units a second that one partition of the table or its index
	// allows; 0 means any number. Writes in transactions cost twice as much as others.
	Units float64

	mu         sync.Mutex
	items      map[string]map[string]item  // by partition and sort key
	index      map[string]map[address]item // by partition of the index
	busy       map[address]bool            // items locked by a transaction
	done       map[string]bool             // tokens of completed transactions
	conflicts  int
	partitions map[string]*load
}

type address struct{ partition, sort string }

// Config returns the configuration of a client of the table. Every table name stands for this
// table.
func (t *Table) Config() aws.Config {
	return aws.Config{
		Region: "us-east-1", HTTPClient: t, BaseEndpoint: aws.String(fmt.Sprintf("http://%p.invalid", t)), Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	}
}

// Conflicts returns how many calls met a transaction on one of their items.
func (t *Table) Conflicts() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.conflicts
}

// refusal is an error as an answer of DynamoDB.
type refusal struct {
	name    string
	message string
	more    map[string]any
}

func (r refusal) Error() string { return r.name + ": " + r.message }

func invalid(format string, args ...any) error {
	return refusal{name: "ValidationException", message: fmt.Sprintf(format, args...)}
}

// Do implements aws.HTTPClient.
func (t *Table) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if err := t.wait(r, t.Call/2); err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	out, err := t.answer(operation, body)
	if err := t.wait(r, t.Call/2); err != nil {
		return nil, err
	}
	status, answer := http.StatusOK, out
	if err != nil {
		refused, ok := err.(refusal)
		if !ok {
			return nil, err
		}
		status = http.StatusBadRequest
		answer = map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#" + refused.name, "message": refused.message, "Message": refused.message}
		for name, v := range refused.more {
			answer[name] = v
		}
	}
	text, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(bytes.NewReader(text)),
	}, err
}

func (t *Table) wait(r *http.Request, d time.Duration) error {
	if d == 0 {
		return nil
	}
	select {
	case <-r.Context().Done():
		return r.Context().Err()
	case <-time.After(d):
		return nil
	}
}

// call has the parameters of all operations that stores use.
type call struct {
	Key, Item                                item
	RequestItems                             map[string]struct{ Keys []item }
	TransactItems                            []map[string]write
	ClientRequestToken                       string
	IndexName                                string
	Select                                   string
	Limit                                    *int
	ExclusiveStartKey                        item
	ScanIndexForward                         *bool
	ConsistentRead                           bool
	KeyConditionExpression, FilterExpression string
	ProjectionExpression                     string
	write
}

// write is a change of one item.
type write struct {
	Key, Item                           item
	UpdateExpression                    string
	ConditionExpression                 string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           item
	ReturnValues                        string // for an update: ALL_NEW or nothing
	ReturnValuesOnConditionCheckFailure string
}

func (t *Table) answer(operation string, body []byte) (map[string]any, error) {
	var c call
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, invalid("%v", err)
	}
	// Both structs have these names; JSON fills the outer ones.
	c.write.Key, c.write.Item = c.Key, c.Item
	switch operation {
	case "GetItem":
		return t.get(c.Key)
	case "BatchGetItem":
		return t.batchGet(c)
	case "Query":
		return t.query(c)
	case "Scan":
		return t.scan()
	case "UpdateItem", "PutItem", "DeleteItem":
		return t.writeOne(strings.TrimSuffix(operation, "Item"), c.write)
	case "TransactWriteItems":
		return t.transact(c)
	}
	return nil, refusal{name: "UnknownOperationException", message: operation}
}

// at returns the address that the item's key names.
func (k Keys) at(i item) (address, error) {
	a := address{i[k.Partition].text(), i[k.Sort].text()}
	if a.partition == "" || a.sort == "" || len(a.partition) > 2048 || len(a.sort) > 1024 {
		return a, invalid("%v is not a key", i)
	}
	return a, nil
}

func (t *Table) lookup(a address) item { return t.items[a.partition][a.sort] }

func (t *Table) get(key item) (map[string]any, error) {
	a, err := t.Keys.at(key)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := t.lookup(a); i != nil {
		return map[string]any{"Item": i}, nil
	}
	return map[string]any{}, nil
}

func (t *Table) batchGet(c call) (map[string]any, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	answers := make(map[string][]item)
	for name, asked := range c.RequestItems {
		if n := len(asked.Keys); n < 1 || n > 100 {
			return nil, invalid("%d keys", n)
		}
		seen := make(map[address]bool)
		for _, key := range asked.Keys {
			a, err := t.Keys.at(key)
			if err != nil || seen[a] {
				return nil, invalid("Provided list of item keys contains duplicates: %v (%v)", key, err)
			}
			if seen[a] = true; t.lookup(a) != nil {
				answers[name] = append(answers[name], t.lookup(a))
			}
		}
	}
	return map[string]any{"Responses": answers, "UnprocessedKeys": map[string]any{}}, nil
}

func (t *Table) scan() (map[string]any, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []item
	for _, partition := range t.items {
		for _, i := range partition {
			all = append(all, i)
		}
	}
	return map[string]any{"Items": all, "Count": len(all)}, nil
}

// maxAnswer is the most bytes that one call of Query reads, as on AWS.
const maxAnswer = 1 << 20

func (t *Table) query(c call) (map[string]any, error) {
	keys := t.Keys
	if c.IndexName != "" {
		if keys = t.Index; c.ConsistentRead {
			return nil, invalid("Consistent reads are not supported on global secondary indexes")
		}
	}
	if c.Limit != nil && *c.Limit < 1 {
		return nil, invalid("a limit of %d", *c.Limit)
	}
	e := expressions{names: c.ExpressionAttributeNames, values: c.ExpressionAttributeValues}
	keyCondition, err := e.condition(c.KeyConditionExpression)
	if err != nil {
		return nil, err
	}
	filter, err := e.condition(c.FilterExpression)
	if err != nil {
		return nil, err
	}
	project, err := e.projection(c.ProjectionExpression)
	if err == nil {
		err = e.unused()
	}
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	partition := c.ExpressionAttributeValues[equals.FindString(c.KeyConditionExpression)].text()
	matching, err := t.matching(keys, partition, keyCondition, c.ScanIndexForward == nil || *c.ScanIndexForward)
	if err != nil {
		return nil, err
	}
	if from := c.ExclusiveStartKey; from != nil {
		at, _ := t.Keys.at(from)
		n := slices.IndexFunc(matching, func(i item) bool { a, _ := t.Keys.at(i); return a == at })
		matching = matching[n+1:]
	}
	found, size := []item{}, 0
	var last item
	for n, i := range matching {
		if size += i.size(); size > maxAnswer || c.Limit != nil && n == *c.Limit {
			break
		}
		last = matching[n]
		if ok, err := filter(i); err != nil {
			return nil, err
		} else if ok {
			found = append(found, project(i))
		}
		if n == len(matching)-1 {
			last = nil
		}
	}
	answer := map[string]any{"Count": len(found)}
	if c.Select != "COUNT" {
		answer["Items"] = found
	}
	if last != nil {
		key := item{}
		for _, name := range []string{t.Keys.Partition, t.Keys.Sort, keys.Partition, keys.Sort} {
			key[name] = last[name]
		}
		answer["LastEvaluatedKey"] = key
	}
	return answer, nil
}

// equals matches the name of the partition's value, which is the first value of a key condition.
var equals = regexp.MustCompile(`:\w+`)

// matching returns the items of a partition of the table or index that meet the key condition, in
// order.
func (t *Table) matching(keys Keys, partition string, condition func(item) (bool, error), forward bool) (all []item, err error) {
	items := slices.Collect(maps.Values(t.items[partition]))
	if keys == t.Index {
		items = slices.Collect(maps.Values(t.index[partition]))
	}
	for _, i := range items {
		if ok, err := condition(i); err != nil {
			return nil, err
		} else if ok {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b item) int {
		n := strings.Compare(a[keys.Sort].text()+"\x00"+a[t.Keys.Partition].text(), b[keys.Sort].text()+"\x00"+b[t.Keys.Partition].text())
		if !forward {
			n = -n
		}
		return n
	})
	return all, nil
}

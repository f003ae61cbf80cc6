// Package dynamodbtest serves the table in memory of package table as DynamoDB does: in JSON, by calls
// of HTTP. A client gets the errors of AWS, and makes calls again by itself.
package dynamodbtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"lipsync/internal/test/simulate/table"
)

// Keys has the names of the attributes of a key, which are strings.
type Keys = table.Keys

// Table is one table with one index. Set its fields once, before use.
type Table struct {
	Keys  Keys
	Index Keys // the index has items with both attributes, and all other attributes

	// Call is the duration of a call. Transaction is the time for which a transaction locks its items. 0 means no time.
	Call, Transaction time.Duration
	// Units is the number of write units a second that one partition of the table or its index
	// allows; 0 means any number. Writes in transactions cost twice as much as others.
	Units float64

	once sync.Once
	made *table.Table
	done sync.Map // tokens of completed transactions
}

// table returns the table in memory.
func (t *Table) table() *table.Table {
	t.once.Do(func() {
		t.made = table.New(table.Limits{Call: t.Call, Transaction: t.Transaction, PartitionWrites: t.Units})
		t.made.Keys, t.made.Index, t.made.Attempts = t.Keys, t.Index, 1
	})
	return t.made
}

// Config returns the configuration of a client of the table. Every table name stands for this
// table.
func (t *Table) Config() aws.Config {
	return aws.Config{
		Region: "us-east-1", HTTPClient: t, BaseEndpoint: aws.String(fmt.Sprintf("http://%p.invalid", t)), Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	}
}

// Conflicts returns how many calls met a transaction on one of their items.
func (t *Table) Conflicts() int { return int(t.table().Count().Conflicts) }

// Partition is a kind of partitions of the table or its index, with the most writes that one of them had in a second.
type Partition struct {
	Name   string
	Writes int
}

// Busiest returns the partitions with the most writes in a second, at most n.
func (t *Table) Busiest(n int) (all []Partition) {
	for _, p := range t.table().Partitions() { // those with the most writes come first
		all = append(all, Partition{p.Name, p.Items})
	}
	return all[:min(n, len(all))]
}

var _ aws.HTTPClient = (*Table)(nil)

func (t *Table) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var c call
	var answer any
	if err = json.Unmarshal(body, &c); err != nil {
		err = &smithy.GenericAPIError{Code: "ValidationException", Message: err.Error()}
	} else {
		answer, err = t.answer(r.Context(), operation, c)
	}
	status := http.StatusOK
	if err != nil {
		refused, ok := errors.AsType[smithy.APIError](err)
		if !ok {
			return nil, err
		}
		status, answer = http.StatusBadRequest, refusal(refused)
	}
	text, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(bytes.NewReader(text)),
	}, err
}

// refusal returns an error as an answer of DynamoDB.
func refusal(err smithy.APIError) map[string]any {
	answer := map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#" + err.ErrorCode(), "message": err.ErrorMessage(), "Message": err.ErrorMessage()}
	switch e := err.(type) {
	case *types.ConditionalCheckFailedException:
		if e.Item != nil {
			answer["Item"] = wired(e.Item)
		}
	case *types.TransactionCanceledException:
		var reasons []map[string]*string
		for _, r := range e.CancellationReasons {
			reasons = append(reasons, map[string]*string{"Code": r.Code})
		}
		answer["CancellationReasons"] = reasons
	}
	return answer
}

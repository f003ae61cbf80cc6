package dynamodbtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"lipsync/internal/test/awstest"
	"lipsync/internal/test/dynamodbtest"
)

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func number(n int) types.AttributeValue  { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }
func key(partition string) item          { return item{"pk": text(partition), "sk": text("s")} }
func put(table string, i item) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: i}}
}

func with(i item, n string, v types.AttributeValue) item { i[n] = v; return i }

func newTable() *dynamodbtest.Table {
	return &dynamodbtest.Table{
		Keys: dynamodbtest.Keys{Partition: "pk", Sort: "sk"}, Index: dynamodbtest.Keys{Partition: "open", Sort: "openAt"},
	}
}

func client(cfg aws.Config) *sdk.Client {
	return sdk.NewFromConfig(cfg, func(o *sdk.Options) { o.RetryMaxAttempts = 1 })
}

// code returns the name of an error of DynamoDB, with the reasons why a transaction was canceled.
func code(err error) string {
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		var all []string
		for _, r := range canceled.CancellationReasons {
			all = append(all, aws.ToString(r.Code))
		}
		return strings.Join(all, " ")
	}
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorCode()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestRefusals makes calls that AWS refuses and calls that it accepts, on the table in memory and
// on the emulator. Both must answer the same.
func TestRefusals(t *testing.T) {
	e := awstest.Shared(t)
	name := e.Table(t)
	clients := map[string]*sdk.Client{"in memory": client(newTable().Config()), "emulator": client(e.Config())}
	many := func(n int) (all []item, writes []types.TransactWriteItem) {
		for i := range n {
			all, writes = append(all, key(fmt.Sprint(i))), append(writes, put(name, key(fmt.Sprint(i))))
		}
		return all, writes
	}
	update := func(k item, expression, condition string, names map[string]string, values item) func(context.Context, *sdk.Client) error {
		return func(ctx context.Context, c *sdk.Client) error {
			in := &sdk.UpdateItemInput{TableName: &name, Key: k, UpdateExpression: &expression, ExpressionAttributeNames: names, ExpressionAttributeValues: values}
			if condition != "" {
				in.ConditionExpression = &condition
			}
			_, err := c.UpdateItem(ctx, in)
			return err
		}
	}
	batch := func(keys []item) func(context.Context, *sdk.Client) error {
		return func(ctx context.Context, c *sdk.Client) error {
			_, err := c.BatchGetItem(ctx, &sdk.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{name: {Keys: keys}}})
			return err
		}
	}
	transact := func(writes ...types.TransactWriteItem) func(context.Context, *sdk.Client) error {
		return func(ctx context.Context, c *sdk.Client) error {
			_, err := c.TransactWriteItems(ctx, &sdk.TransactWriteItemsInput{TransactItems: writes})
			return err
		}
	}
	query := func(in sdk.QueryInput) func(context.Context, *sdk.Client) error {
		return func(ctx context.Context, c *sdk.Client) error {
			in.TableName = &name
			_, err := c.Query(ctx, &in)
			return err
		}
	}
	keys101, writes101 := many(101)
	keys100, writes100 := many(100)
	const refused = "ValidationException"
	list := &types.AttributeValueMemberL{Value: []types.AttributeValue{text("x")}}
	for _, c := range []struct {
		name string
		call func(context.Context, *sdk.Client) error
		want string
	}{
		{"an unused value", update(key("a"), "SET x = :x", "", nil, item{":x": number(1), ":y": number(1)}), refused},
		{"an unused name", update(key("a"), "SET x = :x", "", map[string]string{"#y": "y"}, item{":x": number(1)}), refused},
		{"a missing value", update(key("a"), "SET x = :x", "", nil, nil), refused},
		{"no partition", update(key(""), "SET x = :x", "", nil, item{":x": number(1)}), refused},
		{"a condition that fails", update(key("a"), "SET x = :x", "attribute_exists(pk)", nil, item{":x": number(1)}), "ConditionalCheckFailedException"},
		{"a list", update(key("a"), "SET l = list_append(if_not_exists(l, :none), :x)", "attribute_not_exists(l) OR size(l) < :n AND NOT contains(l, :e)", nil,
			item{":x": list, ":none": &types.AttributeValueMemberL{}, ":n": number(2), ":e": text("x")}), ""},
		{"the same again", update(key("a"), "SET l = list_append(if_not_exists(l, :none), :x)", "attribute_not_exists(l) OR size(l) < :n AND NOT contains(l, :e)", nil,
			item{":x": list, ":none": &types.AttributeValueMemberL{}, ":n": number(2), ":e": text("x")}), "ConditionalCheckFailedException"},
		{"a part of a string", update(key("a"), "SET s = :s", "", nil, item{":s": text("one two")}), ""},
		{"the part", update(key("a"), "SET x = :x", "contains(s, :t)", nil, item{":x": number(1), ":t": text("e tw")}), ""},
		{"no such part", update(key("a"), "SET x = :x", "contains(s, :t)", nil, item{":x": number(1), ":t": text("tow")}), "ConditionalCheckFailedException"},
		{"a sum with a string", update(key("a"), "ADD l :x", "", nil, item{":x": number(1)}), refused},
		{"an empty index key", update(key("a"), "SET openAt = :x", "", nil, item{":x": text("")}), refused},
		{"an item that is too large", update(key("a"), "SET x = :x", "", nil, item{":x": text(strings.Repeat("x", 410_000))}), refused},
		{"100 keys", batch(keys100), ""},
		{"101 keys", batch(keys101), refused},
		{"a key twice", batch([]item{key("a"), key("a")}), refused},
		{"100 writes", transact(writes100...), ""},
		{"101 writes", transact(writes101...), refused},
		{"two writes of one item", transact(put(name, key("a")), put(name, key("a"))), refused},
		{"a transaction whose second condition fails", transact(put(name, key("b")), types.TransactWriteItem{Delete: &types.Delete{
			TableName: &name, Key: key("never"), ConditionExpression: aws.String("attribute_exists(pk)"),
		}}), "None ConditionalCheckFailed"},
		{"bounds the wrong way round", query(sdk.QueryInput{
			KeyConditionExpression: aws.String("pk = :p AND sk BETWEEN :b AND :a"), ExpressionAttributeValues: item{":p": text("a"), ":a": text("a"), ":b": text("b")},
		}), refused},
		{"a consistent read of the index", query(sdk.QueryInput{
			IndexName: aws.String("open"), ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("open = :p"), ExpressionAttributeValues: item{":p": text("a")},
		}), refused},
		{"an empty page", query(sdk.QueryInput{Limit: aws.Int32(0), KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: item{":p": text("a")}}), refused},
	} {
		for where, client := range clients {
			if got := code(c.call(t.Context(), client)); got != c.want {
				t.Errorf("%s, %s: got %q, want %q", c.name, where, got, c.want)
			}
		}
	}
}

// TestConflicts makes two transactions and a write of one item at once.
func TestConflicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable()
		table.Transaction = 20 * time.Millisecond
		c := client(table.Config())
		add := func() error {
			_, err := c.UpdateItem(t.Context(), &sdk.UpdateItemInput{
				TableName: aws.String("t"), Key: key("a"), UpdateExpression: aws.String("ADD n :n"), ExpressionAttributeValues: item{":n": number(1)},
			})
			return err
		}
		transact := func() error {
			_, err := c.TransactWriteItems(t.Context(), &sdk.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: aws.String("t"), Item: key("a")}}}})
			return err
		}
		first := make(chan error)
		go func() { first <- transact() }()
		time.Sleep(10 * time.Millisecond)
		if got := code(transact()) + ", " + code(add()); got != "TransactionConflict, TransactionConflictException" {
			t.Errorf("got %s", got)
		}
		if err := errors.Join(<-first, add(), transact()); err != nil || table.Conflicts() != 2 {
			t.Errorf("got %d conflicts (%v), want 2", table.Conflicts(), err)
		}
	})
}

// TestUnits writes more than a partition allows in a second.
func TestUnits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable()
		table.Units = 10
		c := client(table.Config())
		write := func(i item) string {
			_, err := c.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String("t"), Item: i})
			return code(err)
		}
		large := func(partition string) item { return with(key(partition), "x", text(strings.Repeat("x", 4000))) }
		indexed := func(partition string) item {
			return with(with(large(partition), "open", text("o")), "openAt", text(partition))
		}
		got := []string{write(large("a")), write(large("a")), write(large("a")), write(large("b")), write(indexed("c")), write(indexed("d")), write(indexed("e"))}
		if want := "[  ThrottlingException    ThrottlingException]"; fmt.Sprint(got) != want {
			t.Errorf("got %q, want %q", fmt.Sprint(got), want)
		}
		time.Sleep(time.Second)
		if got := write(large("a")); got != "" {
			t.Errorf("a second later: got %s", got)
		}
		if busiest := table.Busiest(1)[0]; busiest.Writes != 2 {
			t.Errorf("got %+v, want two writes in a second", busiest)
		}
	})
}

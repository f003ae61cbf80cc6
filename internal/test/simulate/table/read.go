package table

import (
	"context"
	"math"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	store "lipsync/internal/store/dynamodb"
)

// Options are the SDK's options, which are ignored here.
type Options = dynamodb.Options

// readUnits returns how many units it takes to read the bytes.
func readUnits(bytes int, consistent bool) float64 {
	units := math.Ceil(float64(max(bytes, 1)) / 4096)
	if !consistent {
		units /= 2
	}
	return units
}

// GetItem implements dynamodb.API.
func (t *Table) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*Options)) (*dynamodb.GetItemOutput, error) {
	out := new(dynamodb.GetItemOutput)
	err := t.try(ctx, func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.called("GetItem")
		r, err := t.get(in.Key)
		if r != nil {
			out.Item = r.item
		}
		return err
	})
	return out, err
}

// get reads one row with strong consistency.
func (t *Table) get(key item) (*row, error) {
	a := addressOf(key)
	r, bytes := t.lookup(a.partition, a.sort), 0
	if r != nil {
		bytes = r.bytes
	}
	if !t.takeRead(a.partition, readUnits(bytes, true)) {
		return nil, errThrottled
	}
	return r, nil
}

func addressOf(key item) address {
	return address{text(key[store.PartitionKey]), text(key[store.SortKey])}
}

// BatchGetItem implements dynamodb.API. Throttled keys are unprocessed; the call fails only if all
// are throttled.
func (t *Table) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*Options)) (*dynamodb.BatchGetItemOutput, error) {
	var out *dynamodb.BatchGetItemOutput
	err := t.try(ctx, func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.called("BatchGetItem")
		out = &dynamodb.BatchGetItemOutput{Responses: make(map[string][]item), UnprocessedKeys: make(map[string]types.KeysAndAttributes)}
		for name, asked := range in.RequestItems {
			var left []item
			for _, key := range asked.Keys {
				switch r, err := t.get(key); {
				case err != nil:
					left = append(left, key)
				case r != nil:
					out.Responses[name] = append(out.Responses[name], r.item)
				}
			}
			if len(left) == len(asked.Keys) {
				return errThrottled
			}
			if left != nil {
				out.UnprocessedKeys[name] = types.KeysAndAttributes{Keys: left}
			}
		}
		return nil
	})
	return out, err
}

// maxAnswer is the most bytes that one call of Query reads, as on AWS.
const maxAnswer = 1 << 20

// Query implements dynamodb.API.
func (t *Table) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*Options)) (*dynamodb.QueryOutput, error) {
	k := read(&t.expressions.keys, *in.KeyConditionExpression, readKey)
	filter := t.expressions.condition(aws.ToString(in.FilterExpression))
	var out *dynamodb.QueryOutput
	err := t.try(ctx, func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.called("Query")
		t.settle()
		out = new(dynamodb.QueryOutput)
		all, sortOf, name := t.partition(in, k)
		matching := k.from(all, in.ExpressionAttributeValues, sortOf)
		forward := in.ScanIndexForward == nil || *in.ScanIndexForward
		bytes := 0
		at := func(n int) *row {
			if forward {
				return matching[n]
			}
			return matching[len(matching)-1-n]
		}
		n := 0
		if in.ExclusiveStartKey != nil {
			n = after(matching, in.ExclusiveStartKey, in.IndexName != nil, forward)
		}
		looked := 0
		for ; n < len(matching); n++ {
			r := at(n)
			if bytes+r.bytes > maxAnswer || in.Limit != nil && looked == int(*in.Limit) {
				break
			}
			bytes, looked = bytes+r.bytes, looked+1
			if filter(r.item, in.ExpressionAttributeValues) {
				out.Count++
				if in.Select != types.SelectCount {
					out.Items = append(out.Items, r.item)
				}
			}
		}
		if n < len(matching) && n > 0 {
			out.LastEvaluatedKey = at(n - 1).key()
		}
		if !t.takeRead(name, readUnits(bytes, aws.ToBool(in.ConsistentRead))) {
			return errThrottled
		}
		return nil
	})
	return out, err
}

// partition returns the rows that are queried, their sort key, and the name of their partition.
func (t *Table) partition(in *dynamodb.QueryInput, k keyCondition) (all rows, sortOf func(*row) string, name string) {
	partition := text(in.ExpressionAttributeValues[k.partition])
	if in.IndexName != nil {
		return t.index[partition], func(r *row) string { return r.indexSort }, "index " + partition
	}
	return t.items[partition], func(r *row) string { return r.sort }, partition
}

// after returns the number of matching rows up to the key, in the order of the query.
func after(matching rows, key item, index, forward bool) int {
	last, order := newRow(key), byIndexSort
	if !index {
		order = func(a, b *row) int { return bySort(a, b.sort) }
	}
	n, found := slices.BinarySearchFunc(matching, last, order)
	if !forward {
		return len(matching) - n
	}
	if found {
		n++
	}
	return n
}

// key returns the key after which a query continues.
func (r *row) key() item {
	k := item{}
	for _, name := range []string{store.PartitionKey, store.SortKey, store.OpenPartition, store.OpenSort} {
		if v, ok := r.item[name]; ok {
			k[name] = v
		}
	}
	return k
}

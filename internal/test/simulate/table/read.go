package table

import (
	"context"
	"math"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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

func (t *Table) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*Options)) (*dynamodb.GetItemOutput, error) {
	out := new(dynamodb.GetItemOutput)
	a, err := t.addressOf(in.Key)
	if err != nil {
		return nil, err
	}
	err = t.try(ctx, func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.called("GetItem")
		r, err := t.get(a)
		if r != nil {
			out.Item = r.item
		}
		return err
	})
	return out, err
}

// get reads one row with strong consistency.
func (t *Table) get(a address) (*row, error) {
	r, bytes := t.lookup(a.partition, a.sort), 0
	if r != nil {
		bytes = r.bytes
	}
	if !t.takeRead(a.partition, readUnits(bytes, true)) {
		return nil, errThrottled
	}
	return r, nil
}

// addressOf returns the address that a key or an item has.
func (t *Table) addressOf(key item) (address, error) {
	a := address{text(key[t.Keys.Partition]), text(key[t.Keys.Sort])}
	if a.partition == "" || a.sort == "" || len(a.partition) > 2048 || len(a.sort) > 1024 {
		return a, invalid("%v is not a key", a)
	}
	return a, nil
}

// BatchGetItem reads items. Throttled keys are unprocessed; the call fails only if all
// are throttled.
func (t *Table) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*Options)) (*dynamodb.BatchGetItemOutput, error) {
	addresses, project := make(map[string][]address), make(map[string]func(item) item)
	for name, asked := range in.RequestItems {
		var err error
		if project[name], err = t.projection(asked.ProjectionExpression, asked.ExpressionAttributeNames, nil); err != nil {
			return nil, err
		}
		all, err := t.batch(asked.Keys)
		if err != nil {
			return nil, err
		}
		addresses[name] = all
	}
	var out *dynamodb.BatchGetItemOutput
	err := t.try(ctx, func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.called("BatchGetItem")
		out = &dynamodb.BatchGetItemOutput{Responses: make(map[string][]item), UnprocessedKeys: make(map[string]types.KeysAndAttributes)}
		for name, asked := range in.RequestItems {
			var left []item
			for n, a := range addresses[name] {
				switch r, err := t.get(a); {
				case err != nil:
					left = append(left, asked.Keys[n])
				case r != nil:
					out.Responses[name] = append(out.Responses[name], project[name](r.item))
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

// batch returns the addresses of the keys of a BatchGetItem.
func (t *Table) batch(keys []item) (all []address, err error) {
	if n := len(keys); n < 1 || n > 100 {
		return nil, invalid("%d keys", n)
	}
	seen := make(map[address]bool, len(keys))
	for _, key := range keys {
		a, err := t.addressOf(key)
		if err != nil || seen[a] {
			return nil, invalid("Provided list of item keys contains duplicates: %v (%v)", a, err)
		}
		seen[a] = true
		all = append(all, a)
	}
	return all, nil
}

// Scan reads the whole table, for tests.
func (t *Table) Scan(context.Context, *dynamodb.ScanInput, ...func(*Options)) (*dynamodb.ScanOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := new(dynamodb.ScanOutput)
	for _, all := range t.items {
		for _, r := range all {
			out.Items = append(out.Items, r.item)
		}
	}
	out.Count = int32(len(out.Items))
	return out, nil
}

// question is a parsed Query.
type question struct {
	key     keyCondition
	filter  condition
	project func(item) item
}

// parseQuery parses a query, and refuses those that AWS refuses.
func (t *Table) parseQuery(in *dynamodb.QueryInput) (q question, err error) {
	if in.IndexName != nil && aws.ToBool(in.ConsistentRead) {
		return q, invalid("Consistent reads are not supported on global secondary indexes")
	}
	if in.Limit != nil && *in.Limit < 1 {
		return q, invalid("a limit of %d", *in.Limit)
	}
	key, err := read(&t.expressions.keys, aws.ToString(in.KeyConditionExpression), readKey)
	if err != nil {
		return q, err
	}
	filter, err := t.expressions.condition(aws.ToString(in.FilterExpression))
	if err != nil {
		return q, err
	}
	q = question{key: key.meaning, filter: filter.meaning}
	if low, high := text(in.ExpressionAttributeValues[q.key.low]), text(in.ExpressionAttributeValues[q.key.high]); q.key.low != "" && q.key.high != "" && low > high {
		return q, invalid("the lower bound of BETWEEN is above the upper one")
	}
	q.project, err = t.projection(in.ProjectionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues, key.words, filter.words)
	return q, err
}

// projection returns a function that returns an item with the attributes that the expression names, or with all if there is none. It checks
// the names and values, which the other words use too.
func (t *Table) projection(expression *string, names map[string]string, values item, used ...words) (func(item) item, error) {
	project := func(i item) item { return i }
	if expression != nil {
		wanted, err := read(&t.expressions.projections, *expression, (*parser).attributes)
		if err != nil {
			return nil, err
		}
		project, used = only(wanted.meaning), append(used, wanted.words)
	}
	return project, check(names, values, used...)
}

// only returns a function that returns an item with the attributes of these names.
func only(names []string) func(item) item {
	return func(i item) item {
		part := make(item, len(names))
		for _, name := range names {
			if v, ok := i[name]; ok {
				part[name] = v
			}
		}
		return part
	}
}

// maxAnswer is the most bytes that one call of Query reads, as on AWS.
const maxAnswer = 1 << 20

func (t *Table) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*Options)) (*dynamodb.QueryOutput, error) {
	q, err := t.parseQuery(in)
	if err != nil {
		return nil, err
	}
	var out *dynamodb.QueryOutput
	err = t.try(ctx, func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.called("Query")
		t.settle()
		out = new(dynamodb.QueryOutput)
		all, sortOf, name := t.partition(in, q.key)
		matching := q.key.from(all, in.ExpressionAttributeValues, sortOf)
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
			n = after(matching, t.newRow(in.ExclusiveStartKey), in.IndexName != nil, forward)
		}
		looked := 0
		for ; n < len(matching); n++ {
			r := at(n)
			if bytes+r.bytes > maxAnswer || in.Limit != nil && looked == int(*in.Limit) {
				break
			}
			bytes, looked = bytes+r.bytes, looked+1
			if q.filter(r.item, in.ExpressionAttributeValues) {
				out.Count++
				if in.Select != types.SelectCount {
					out.Items = append(out.Items, q.project(r.item))
				}
			}
		}
		out.ScannedCount = int32(looked)
		if n < len(matching) && n > 0 {
			out.LastEvaluatedKey = t.keyOf(at(n - 1))
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

// after returns the number of matching rows up to the last one of a page, in the order of the query.
func after(matching rows, last *row, index, forward bool) int {
	order := byIndexSort
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

// keyOf returns the key after which a query continues.
func (t *Table) keyOf(r *row) item {
	return only([]string{t.Keys.Partition, t.Keys.Sort, t.Index.Partition, t.Index.Sort})(r.item)
}

package table

import (
	"context"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/store/dynamodb/table"
)

// maxTransaction is the most writes of a transaction, as on AWS.
const maxTransaction = 100

// write is a requested change of one item.
type write struct {
	key       item
	condition string
	names     map[string]string
	values    item
	update    string // expression; "" for a put or a delete
	put       item   // nil for a delete
	tellsOld  bool   // whether the error of a condition that fails has the item
}

// parsedWrite is a write with its expressions.
type parsedWrite struct {
	write
	address
	may    condition
	update []assignment
}

func (t *Table) parse(w write) (p parsedWrite, err error) {
	p.write = w
	if p.address, err = t.addressOf(w.key); err != nil {
		return p, err
	}
	may, err := t.expressions.condition(w.condition)
	if err != nil {
		return p, err
	}
	used := []words{may.words}
	if p.may = may.meaning; w.update != "" {
		update, err := read(&t.expressions.updates, w.update, readUpdate)
		if err != nil {
			return p, err
		}
		p.update, used = update.meaning, append(used, update.words)
	}
	return p, check(w.names, w.values, used...)
}

// prepared is the result that a write would have: the rows before and after it.
type prepared struct {
	change
	holds bool // whether the condition holds
}

// prepare returns the result that a write would have now.
func (t *Table) prepare(w parsedWrite, factor float64) (p prepared, err error) {
	p.change = change{address: w.address, factor: factor}
	p.old = t.lookup(p.partition, p.sort)
	var old item
	if p.old != nil {
		old = p.old.item
	}
	if p.holds = w.may(old, w.values); !p.holds {
		return p, nil
	}
	switch {
	case w.update != nil:
		i := maps.Clone(old)
		if i == nil {
			i = make(item)
		}
		maps.Copy(i, w.key)
		for _, a := range w.update {
			if err := a(i, old, w.values); err != nil {
				return p, err
			}
		}
		p.next = t.newRow(i)
	case w.put != nil:
		p.next = t.newRow(w.put)
	default:
		return p, nil
	}
	return p, t.check(p.next)
}

func (t *Table) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*Options)) (*dynamodb.UpdateItemOutput, error) {
	next, err := t.writeOne(ctx, "UpdateItem", write{
		key: in.Key, condition: aws.ToString(in.ConditionExpression), names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		update: aws.ToString(in.UpdateExpression), tellsOld: in.ReturnValuesOnConditionCheckFailure == types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	out := new(dynamodb.UpdateItemOutput)
	if err == nil && in.ReturnValues == types.ReturnValueAllNew {
		out.Attributes = next.item
	}
	return out, err
}

func (t *Table) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, _ ...func(*Options)) (*dynamodb.DeleteItemOutput, error) {
	_, err := t.writeOne(ctx, "DeleteItem", write{
		key: in.Key, condition: aws.ToString(in.ConditionExpression), names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
	})
	return new(dynamodb.DeleteItemOutput), err
}

// PutItem writes an item, for tests.
func (t *Table) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*Options)) (*dynamodb.PutItemOutput, error) {
	_, err := t.writeOne(ctx, "PutItem", write{
		key: in.Item, condition: aws.ToString(in.ConditionExpression), names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues, put: in.Item,
	})
	return new(dynamodb.PutItemOutput), err
}

// writeOne makes one write, and returns the row after it, or nil if there is none.
func (t *Table) writeOne(ctx context.Context, operation string, w write) (next *row, err error) {
	parsed, err := t.parse(w)
	if err != nil {
		return nil, err
	}
	err = t.try(ctx, func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.called(operation)
		if t.busy[parsed.address] {
			t.count.Conflicts++
			return errConflict
		}
		p, err := t.prepare(parsed, 1)
		if err != nil {
			return err
		}
		if !p.holds {
			if !t.takeRefused(p.change) {
				return errThrottled
			}
			failed := &types.ConditionalCheckFailedException{Message: aws.String("The conditional request failed")}
			if p.old != nil && w.tellsOld {
				failed.Item = p.old.item
			}
			return failed
		}
		if !t.take(p.change) {
			return errThrottled
		}
		t.set(p.old, p.next)
		next = p.next
		return nil
	})
	return next, err
}

// TransactWriteItems writes all or nothing. A canceled transaction is not retried here.
func (t *Table) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	writes, err := t.parseAll(in.TransactItems)
	if err != nil {
		return nil, err
	}
	done := false // by a try with the same token whose answer was lost
	return new(dynamodb.TransactWriteItemsOutput), t.try(ctx, func() error {
		if done {
			return nil
		}
		changes, err := t.hold(writes)
		if err != nil {
			return err
		}
		_ = t.wait(context.WithoutCancel(ctx), t.Transaction) // a transaction goes on even if its client ends
		t.commit(changes)
		done = true
		return nil
	})
}

// parseAll parses the writes of a transaction. The store makes no ConditionCheck.
func (t *Table) parseAll(items []types.TransactWriteItem) (all []parsedWrite, err error) {
	if n := len(items); n < 1 || n > maxTransaction {
		return nil, invalid("%d writes", n)
	}
	seen := make(map[address]bool, len(items))
	for _, i := range items {
		var w write
		switch {
		case i.Put != nil:
			w = write{key: i.Put.Item, condition: aws.ToString(i.Put.ConditionExpression), names: i.Put.ExpressionAttributeNames, values: i.Put.ExpressionAttributeValues, put: i.Put.Item}
		case i.Delete != nil:
			w = write{key: i.Delete.Key, condition: aws.ToString(i.Delete.ConditionExpression), names: i.Delete.ExpressionAttributeNames, values: i.Delete.ExpressionAttributeValues}
		case i.Update != nil:
			w = write{key: i.Update.Key, condition: aws.ToString(i.Update.ConditionExpression), names: i.Update.ExpressionAttributeNames, values: i.Update.ExpressionAttributeValues,
				update: aws.ToString(i.Update.UpdateExpression)}
		default:
			return nil, invalid("not a put, a delete or an update")
		}
		p, err := t.parse(w)
		if err != nil {
			return nil, err
		}
		if seen[p.address] {
			return nil, invalid("Transaction request cannot include multiple operations on one item: %v", p.address)
		}
		seen[p.address] = true
		all = append(all, p)
	}
	return all, nil
}

// hold locks the items of a transaction, or returns why it can't.
func (t *Table) hold(writes []parsedWrite) ([]change, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.called("TransactWriteItems")
	codes := make([]string, len(writes))
	changes := make([]change, len(writes))
	canceled := false
	for n, w := range writes {
		codes[n] = "None"
		if t.busy[w.address] {
			t.count.Conflicts++
			codes[n] = "TransactionConflict"
		} else if p, err := t.prepare(w, 2); err != nil {
			return nil, err
		} else if p.holds {
			changes[n] = p.change
			continue
		} else {
			codes[n] = "ConditionalCheckFailed"
		}
		canceled = true
	}
	if !canceled && !t.take(changes...) {
		codes[0], canceled = "ThrottlingError", true
	}
	if canceled {
		e := &types.TransactionCanceledException{Message: aws.String("Transaction cancelled")}
		for _, code := range codes {
			e.CancellationReasons = append(e.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
		}
		return nil, e
	}
	for _, c := range changes {
		t.busy[c.address] = true
	}
	return changes, nil
}

// commit makes the changes of the transaction. Its items are locked, so nothing has changed them.
func (t *Table) commit(changes []change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range changes {
		t.set(c.old, c.next)
		delete(t.busy, c.address)
	}
}

// Forget deletes all items of a request without counting units, so that a simulation of millions of
// requests fits in memory. Call it once nobody asks for the request any more.
func (t *Table) Forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.items["request/"+id] {
		t.behind = append(t.behind, lagging{old: r})
	}
	delete(t.items, "request/"+id)
}

var _ table.API = (*Table)(nil)

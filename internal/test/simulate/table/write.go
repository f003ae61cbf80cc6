package table

import (
	"context"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	store "lipsync/internal/store/dynamodb"
)

// write is a requested change of one item.
type write struct {
	key       item
	condition string
	values    item
	update    string // expression; "" for a put or a delete
	put       item   // nil for a delete
}

// prepared is the result that a write would have: the rows before and after it.
type prepared struct {
	change
	holds bool // whether the condition holds
}

// prepare returns the result that a write would have now.
func (t *Table) prepare(w write, factor float64) prepared {
	p := prepared{change: change{address: addressOf(w.key), factor: factor}}
	p.old = t.lookup(p.partition, p.sort)
	var old item
	if p.old != nil {
		old = p.old.item
	}
	if p.holds = t.expressions.condition(w.condition)(old, w.values); !p.holds {
		return p
	}
	switch {
	case w.update != "":
		i := maps.Clone(old)
		if i == nil {
			i = make(item)
		}
		maps.Copy(i, w.key)
		for _, a := range read(&t.expressions.updates, w.update, readUpdate) {
			a(i, old, w.values)
		}
		p.next = newRow(i)
	case w.put != nil:
		p.next = newRow(w.put)
	}
	return p
}

// UpdateItem implements dynamodb.API.
func (t *Table) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*Options)) (*dynamodb.UpdateItemOutput, error) {
	next, err := t.writeOne(ctx, "UpdateItem", write{
		key: in.Key, condition: aws.ToString(in.ConditionExpression), values: in.ExpressionAttributeValues, update: *in.UpdateExpression,
	})
	out := new(dynamodb.UpdateItemOutput)
	if err == nil && in.ReturnValues == types.ReturnValueAllNew {
		out.Attributes = next.item
	}
	return out, err
}

// DeleteItem implements dynamodb.API.
func (t *Table) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, _ ...func(*Options)) (*dynamodb.DeleteItemOutput, error) {
	_, err := t.writeOne(ctx, "DeleteItem", write{key: in.Key})
	return new(dynamodb.DeleteItemOutput), err
}

// writeOne makes one write, and returns the row after it, or nil if there is none.
func (t *Table) writeOne(ctx context.Context, operation string, w write) (next *row, err error) {
	err = t.try(ctx, func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.called(operation)
		if t.busy[addressOf(w.key)] {
			t.count.Conflicts++
			return errConflict
		}
		p := t.prepare(w, 1)
		if !p.holds {
			if !t.takeRefused(p.change) {
				return errThrottled
			}
			failed := new(types.ConditionalCheckFailedException)
			if p.old != nil {
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

// TransactWriteItems implements dynamodb.API. A canceled transaction is not retried here.
func (t *Table) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	var writes []write
	for _, i := range in.TransactItems {
		switch {
		case i.Put != nil:
			writes = append(writes, write{key: i.Put.Item, condition: aws.ToString(i.Put.ConditionExpression), values: i.Put.ExpressionAttributeValues, put: i.Put.Item})
		case i.Delete != nil:
			writes = append(writes, write{key: i.Delete.Key, condition: aws.ToString(i.Delete.ConditionExpression), values: i.Delete.ExpressionAttributeValues})
		case i.Update != nil:
			writes = append(writes, write{key: i.Update.Key, condition: aws.ToString(i.Update.ConditionExpression), values: i.Update.ExpressionAttributeValues, update: *i.Update.UpdateExpression})
		case i.ConditionCheck != nil:
			panic("ConditionCheck is not supported")
		}
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

// hold locks the items of a transaction, or returns why it can't.
func (t *Table) hold(writes []write) ([]change, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.called("TransactWriteItems")
	codes := make([]string, len(writes))
	changes := make([]change, len(writes))
	canceled := false
	for n, w := range writes {
		codes[n] = "None"
		if t.busy[addressOf(w.key)] {
			t.count.Conflicts++
			codes[n] = "TransactionConflict"
		} else if p := t.prepare(w, 2); p.holds {
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
		e := new(types.TransactionCanceledException)
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

var _ store.API = (*Table)(nil)

package dynamodbtest

import (
	"math/big"
	"strconv"
	"strings"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// maxItem and maxTransaction are AWS's limits.
const (
	maxItem        = 400 << 10
	maxTransaction = 100
)

// prepared is a parsed write: its item, its condition, and its effect.
type prepared struct {
	write
	address
	may   func(item) (bool, error)
	apply func(item) (item, error) // returns nil for no item
}

func (t *Table) prepare(kind string, w write) (p prepared, err error) {
	p.write = w
	key := w.Key
	if kind == "Put" {
		key = w.Item
	}
	if p.address, err = t.Keys.at(key); err != nil {
		return p, err
	}
	e := expressions{names: w.ExpressionAttributeNames, values: w.ExpressionAttributeValues}
	if p.may, err = e.condition(w.ConditionExpression); err != nil {
		return p, err
	}
	switch kind {
	case "Put":
		p.apply = func(item) (item, error) { return w.Item.clone(), nil }
	case "Delete":
		p.apply = func(item) (item, error) { return nil, nil }
	case "Update":
		p.apply, err = e.update(w.UpdateExpression, w.Key)
	case "ConditionCheck":
		p.apply = func(i item) (item, error) { return i, nil }
	default:
		err = invalid("%s is not a write", kind)
	}
	if err == nil {
		err = e.unused()
	}
	return p, err
}

// update parses an update expression.
func (e *expressions) update(text string, key item) (func(item) (item, error), error) {
	e.begin(text)
	type assignment struct {
		name  string
		value operand
		add   bool
	}
	var all []assignment
	var removed []string
	for len(e.tokens) > 0 && e.err == nil {
		clause := e.next()
		for {
			name := e.attribute()
			switch clause {
			case "SET":
				e.expect("=")
				all = append(all, assignment{name, e.operand(), false})
			case "ADD":
				all = append(all, assignment{name, e.operand(), true})
			case "REMOVE":
				removed = append(removed, name)
			default:
				return nil, invalid("%q is not a clause", clause)
			}
			if !e.accept(",") {
				break
			}
		}
	}
	return func(old item) (item, error) {
		i := old.clone()
		for name, v := range key {
			i[name] = v
		}
		for _, a := range all {
			v, ok := a.value(old)
			if !ok {
				return nil, invalid("The provided expression refers to an attribute that does not exist in the item")
			}
			if a.add {
				was, ok := old[a.name]
				if v.kind != "N" || ok && was.kind != "N" {
					return nil, invalid("ADD of a value that is not a number")
				}
				if ok {
					v = value{"N", new(big.Float).SetPrec(200).Add(was.number(), v.number()).Text('f', -1)}
				}
			}
			i[a.name] = v
		}
		for _, name := range removed {
			delete(i, name)
		}
		return i, nil
	}, e.err
}

// check refuses an item that AWS does not store.
func (t *Table) check(i item) error {
	if i.size() > maxItem {
		return invalid("Item size has exceeded the maximum allowed size")
	}
	for _, name := range []string{t.Index.Partition, t.Index.Sort} {
		if v, ok := i[name]; ok && (v.kind != "S" || v.text() == "") {
			return invalid("the key %s of the index is %v", name, v)
		}
	}
	return nil
}

// set writes an item, or deletes it if i is nil.
func (t *Table) set(a address, i item) {
	if t.items == nil {
		t.items, t.index = make(map[string]map[string]item), make(map[string]map[address]item)
	}
	delete(t.index[t.items[a.partition][a.sort][t.Index.Partition].text()], a)
	if name := i[t.Index.Partition].text(); name != "" && i[t.Index.Sort].text() != "" {
		if t.index[name] == nil {
			t.index[name] = make(map[address]item)
		}
		t.index[name][a] = i
	}
	if t.items[a.partition] == nil {
		t.items[a.partition] = make(map[string]item)
	}
	if t.items[a.partition][a.sort] = i; i == nil {
		delete(t.items[a.partition], a.sort)
	}
}

func conditionFailed(w write, old item) refusal {
	r := refusal{name: "ConditionalCheckFailedException", message: "The conditional request failed"}
	if w.ReturnValuesOnConditionCheckFailure == "ALL_OLD" && old != nil {
		r.more = map[string]any{"Item": old}
	}
	return r
}

func (t *Table) writeOne(kind string, w write) (map[string]any, error) {
	p, err := t.prepare(kind, w)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy[p.address] {
		t.conflicts++
		return nil, refusal{name: "TransactionConflictException", message: "Transaction is ongoing for the item"}
	}
	old := t.lookup(p.address)
	if ok, err := p.may(old); err != nil {
		return nil, err
	} else if !ok {
		return nil, conditionFailed(w, old)
	}
	next, err := p.apply(old)
	if err == nil && next != nil {
		err = t.check(next)
	}
	if err != nil {
		return nil, err
	}
	if !t.take(p.address, old, next, 1) {
		return nil, refusal{name: "ThrottlingException", message: p.partition + " is too busy"}
	}
	t.set(p.address, next)
	if w.ReturnValues == "ALL_NEW" {
		return map[string]any{"Attributes": next}, nil
	}
	return map[string]any{}, nil
}

func (t *Table) transact(c call) (map[string]any, error) {
	all, err := t.prepareAll(c)
	if err != nil {
		return nil, err
	}
	if done, err := t.hold(c.ClientRequestToken, all); done || err != nil {
		return map[string]any{}, err
	}
	if t.Transaction > 0 {
		time.Sleep(t.Transaction)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range all {
		next, _ := p.apply(t.lookup(p.address)) // with the same result as when it was checked
		t.set(p.address, next)
		delete(t.busy, p.address)
	}
	t.done[c.ClientRequestToken] = true
	return map[string]any{}, nil
}

func (t *Table) prepareAll(c call) (all []prepared, err error) {
	if n := len(c.TransactItems); n < 1 || n > maxTransaction {
		return nil, invalid("%d writes", n)
	}
	seen := make(map[address]bool)
	for _, kinds := range c.TransactItems {
		for kind, w := range kinds {
			p, err := t.prepare(kind, w)
			if err != nil {
				return nil, err
			}
			if seen[p.address] {
				return nil, invalid("Transaction request cannot include multiple operations on one item: %v", p.address)
			}
			seen[p.address] = true
			all = append(all, p)
		}
	}
	return all, nil
}

// hold locks the items of a transaction, or returns why it can't. It reports whether the
// transaction with the token was done before.
func (t *Table) hold(token string, all []prepared) (done bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy == nil {
		t.busy, t.done = make(map[address]bool), make(map[string]bool)
	}
	if t.done[token] {
		return true, nil
	}
	var codes []string
	var reasons []map[string]any
	canceled := false
	for _, p := range all {
		reason, err := t.judge(p)
		if err != nil {
			return false, err
		}
		canceled = canceled || reason["Code"] != "None"
		codes, reasons = append(codes, reason["Code"].(string)), append(reasons, reason)
	}
	if canceled {
		return false, refusal{
			name: "TransactionCanceledException", message: "Transaction cancelled: [" + strings.Join(codes, ", ") + "]",
			more: map[string]any{"CancellationReasons": reasons},
		}
	}
	for _, p := range all {
		t.busy[p.address] = true
	}
	return false, nil
}

// judge returns why a write of a transaction is refused, with the code None if it isn't.
func (t *Table) judge(p prepared) (map[string]any, error) {
	if t.busy[p.address] {
		t.conflicts++
		return map[string]any{"Code": "TransactionConflict"}, nil
	}
	old := t.lookup(p.address)
	if ok, err := p.may(old); err != nil || !ok {
		return map[string]any{"Code": "ConditionalCheckFailed"}, err
	}
	next, err := p.apply(old)
	if err == nil && next != nil {
		err = t.check(next)
	}
	if err == nil && !t.take(p.address, old, next, 2) {
		return map[string]any{"Code": "ThrottlingError"}, nil
	}
	return map[string]any{"Code": "None"}, err
}

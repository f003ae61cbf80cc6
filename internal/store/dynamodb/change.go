package dynamodb

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// change is a conditional update of one item.
type change struct {
	key       item
	set       item     // attributes and their new values
	add       item     // attributes and the numbers to add to them
	append    item     // attributes and the lists to append to them
	remove    []string // names of attributes
	condition string   // "" for none; written with #name for attributes and :name for values
	values    item     // values of the condition, by name
	refused   error    // the error to return if the condition does not hold
	tells     bool     // whether update returns the changed item
}

// expression returns the update expression, and all values by their names in it.
func (c change) expression() (string, item) {
	values := make(item)
	for name, v := range c.values {
		values[":"+name] = v
	}
	var clauses []string
	clause := func(verb, between string, attributes item) {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(attributes)) {
			parts = append(parts, "#"+name+between+":"+name)
			values[":"+name] = attributes[name]
		}
		if parts != nil {
			clauses = append(clauses, verb+strings.Join(parts, ", "))
		}
	}
	set := maps.Clone(c.set)
	for name, v := range c.append {
		if set == nil {
			set = make(item)
		}
		set[name] = v
	}
	clause("SET ", " = ", set)
	for name := range c.append {
		clauses[0] = strings.Replace(clauses[0], "#"+name+" = :"+name, "#"+name+" = list_append(if_not_exists(#"+name+", :nothing), :"+name+")", 1)
		values[":nothing"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	}
	clause("ADD ", " ", c.add)
	if c.remove != nil {
		clauses = append(clauses, "REMOVE #"+strings.Join(slices.Sorted(slices.Values(c.remove)), ", #"))
	}
	if len(values) == 0 {
		values = nil // DynamoDB refuses an empty map
	}
	return strings.Join(clauses, " "), values
}

// names returns the attribute names that the expressions use, by their placeholders. Every name
// has a placeholder (#name), since DynamoDB reserves many words.
func names(expressions ...string) map[string]string {
	var found map[string]string // DynamoDB refuses an empty map
	for _, part := range strings.Split(strings.Join(expressions, " "), "#")[1:] {
		name := part
		if end := strings.IndexFunc(part, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
			name = part[:end]
		}
		if found == nil {
			found = make(map[string]string)
		}
		found["#"+name] = name
	}
	return found
}

// update makes the change. If the condition does not hold, it returns the item as it is, and
// c.refused.
func (s *Store) update(ctx context.Context, c change) (item, error) {
	update, values := c.expression()
	wanted := types.ReturnValueNone
	if c.tells {
		wanted = types.ReturnValueAllNew
	}
	changed, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: c.key,
		UpdateExpression: &update, ConditionExpression: orNil(c.condition),
		ExpressionAttributeNames: names(update, c.condition), ExpressionAttributeValues: values,
		ReturnValues: wanted, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return failed.Item, c.refused
	}
	if err != nil {
		return nil, s.explain(err)
	}
	return changed.Attributes, nil
}

// step is one write of a transaction.
type step struct {
	types.TransactWriteItem
	refused error // the error to return if its condition does not hold
}

// step returns the change as one step of a transaction.
func (c change) step(table string) step {
	update, values := c.expression()
	return step{types.TransactWriteItem{Update: &types.Update{
		TableName: &table, Key: c.key,
		UpdateExpression: &update, ConditionExpression: orNil(c.condition),
		ExpressionAttributeNames: names(update, c.condition), ExpressionAttributeValues: values,
	}}, c.refused}
}

// transact does all steps, or none. It returns conflict if the table is busy or a step was refused
// with conflict, else the error of the first step that was refused.
func (s *Store) transact(ctx context.Context, steps []step) error {
	var writes []types.TransactWriteItem
	for _, step := range steps {
		writes = append(writes, step.TransactWriteItem)
	}
	_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return s.explain(err)
	}
	var refusals []error
	for i, reason := range canceled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "", "None":
		case "ConditionalCheckFailed":
			refusals = append(refusals, steps[i].refused)
		case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
			refusals = append(refusals, conflict{})
		default:
			return err
		}
	}
	if slices.Contains(refusals, error(conflict{})) {
		return conflict{}
	}
	return append(refusals, err)[0]
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

package table

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

// Change is a conditional update of one item.
type Change struct {
	Key       Item
	Set       Item     // attributes and their new values
	Add       Item     // attributes and the numbers to add to them
	Append    Item     // attributes and the lists to append to them
	Remove    []string // names of attributes
	Condition string   // "" for none; written with #name for attributes and :name for values
	Values    Item     // values of the condition, by name
	Refused   error    // the error to return if the condition does not hold
	Tells     bool     // whether Update returns the changed item
}

// expression returns the update expression, and all values by their names in it.
func (c Change) expression() (string, Item) {
	values := make(Item)
	for name, v := range c.Values {
		values[":"+name] = v
	}
	var clauses []string
	clause := func(verb, between string, attributes Item) {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(attributes)) {
			parts = append(parts, "#"+name+between+":"+name)
			values[":"+name] = attributes[name]
		}
		if parts != nil {
			clauses = append(clauses, verb+strings.Join(parts, ", "))
		}
	}
	set := maps.Clone(c.Set)
	for name, v := range c.Append {
		if set == nil {
			set = make(Item)
		}
		set[name] = v
	}
	clause("SET ", " = ", set)
	for name := range c.Append {
		clauses[0] = strings.Replace(clauses[0], "#"+name+" = :"+name, "#"+name+" = list_append(if_not_exists(#"+name+", :nothing), :"+name+")", 1)
		values[":nothing"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	}
	clause("ADD ", " ", c.Add)
	if c.Remove != nil {
		clauses = append(clauses, "REMOVE #"+strings.Join(slices.Sorted(slices.Values(c.Remove)), ", #"))
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

// Update makes the change. If the condition does not hold, it returns the item as it is, and
// c.Refused.
func (t *Table) Update(ctx context.Context, c Change) (Item, error) {
	update, values := c.expression()
	wanted := types.ReturnValueNone
	if c.Tells {
		wanted = types.ReturnValueAllNew
	}
	changed, err := t.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &t.name, Key: c.Key,
		UpdateExpression: &update, ConditionExpression: orNil(c.Condition),
		ExpressionAttributeNames: names(update, c.Condition), ExpressionAttributeValues: values,
		ReturnValues: wanted, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return failed.Item, c.Refused
	}
	if err != nil {
		return nil, t.explain(err)
	}
	return changed.Attributes, nil
}

// Delete deletes the item with the key, if there is one.
func (t *Table) Delete(ctx context.Context, key Item) error {
	_, err := t.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &t.name, Key: key})
	return t.explain(err)
}

// Step is one write of a transaction.
type Step struct {
	types.TransactWriteItem
	refused error // the error to return if its condition does not hold
}

// UpdateStep returns the step that makes the change.
func (t *Table) UpdateStep(c Change) Step {
	update, values := c.expression()
	return Step{types.TransactWriteItem{Update: &types.Update{
		TableName: &t.name, Key: c.Key,
		UpdateExpression: &update, ConditionExpression: orNil(c.Condition),
		ExpressionAttributeNames: names(update, c.Condition), ExpressionAttributeValues: values,
	}}, c.Refused}
}

// Transact does all steps, or none. It returns Conflict if the table is busy or a step was refused
// with Conflict, else the error of the first step that was refused.
func (t *Table) Transact(ctx context.Context, steps []Step) error {
	var writes []types.TransactWriteItem
	for _, step := range steps {
		writes = append(writes, step.TransactWriteItem)
	}
	_, err := t.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return t.explain(err)
	}
	var refusals []error
	for i, reason := range canceled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "", "None":
		case "ConditionalCheckFailed":
			refusals = append(refusals, steps[i].refused)
		case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
			refusals = append(refusals, Conflict{})
		default:
			return err
		}
	}
	if slices.Contains(refusals, error(Conflict{})) {
		return Conflict{}
	}
	return append(refusals, err)[0]
}

// PutStep returns the step that writes a whole item, on a condition as that of a Change.
func (t *Table) PutStep(i Item, condition string, values Item, refused error) Step {
	_, values = Change{Values: values}.expression()
	return Step{types.TransactWriteItem{Put: &types.Put{
		TableName: &t.name, Item: i,
		ConditionExpression:      orNil(condition),
		ExpressionAttributeNames: names(condition), ExpressionAttributeValues: values,
	}}, refused}
}

// DeleteStep returns the step that deletes an item.
func (t *Table) DeleteStep(key Item, condition string, refused error) Step {
	return Step{types.TransactWriteItem{Delete: &types.Delete{
		TableName: &t.name, Key: key,
		ConditionExpression: orNil(condition), ExpressionAttributeNames: names(condition),
	}}, refused}
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

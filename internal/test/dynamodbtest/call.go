package dynamodbtest

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// call has the parameters of all operations that stores use.
type call struct {
	write
	RequestItems                             map[string]keysOf
	TransactItems                            []struct{ Put, Delete, Update *write }
	ClientRequestToken                       string
	IndexName                                *string
	Select                                   types.Select
	Limit                                    *int32
	ExclusiveStartKey                        item
	ScanIndexForward, ConsistentRead         *bool
	KeyConditionExpression, FilterExpression *string
	ProjectionExpression                     *string
}

// keysOf has what a BatchGetItem asks of one table.
type keysOf struct {
	Keys                     []item
	ProjectionExpression     *string
	ExpressionAttributeNames map[string]string
}

// write is a change of one item.
type write struct {
	Key, Item                             item
	UpdateExpression, ConditionExpression *string
	ExpressionAttributeNames              map[string]string
	ExpressionAttributeValues             item
	ReturnValues                          types.ReturnValue
	ReturnValuesOnConditionCheckFailure   types.ReturnValuesOnConditionCheckFailure
}

// answer makes a call of the table.
func (t *Table) answer(ctx context.Context, operation string, c call) (any, error) {
	type answers = map[string]any
	names, values := c.ExpressionAttributeNames, c.ExpressionAttributeValues.typed()
	switch operation {
	case "GetItem":
		out, err := t.table().GetItem(ctx, &dynamodb.GetItemInput{Key: c.Key.typed()})
		if err != nil || out.Item == nil {
			return answers{}, err
		}
		return answers{"Item": wired(out.Item)}, nil
	case "BatchGetItem":
		return t.batchGet(ctx, c)
	case "Query":
		return t.query(ctx, c)
	case "Scan":
		out, err := t.table().Scan(ctx, nil)
		return answers{"Items": wiredAll(out.Items), "Count": out.Count}, err
	case "UpdateItem":
		out, err := t.table().UpdateItem(ctx, &dynamodb.UpdateItemInput{
			Key: c.Key.typed(), UpdateExpression: c.UpdateExpression, ConditionExpression: c.ConditionExpression, ExpressionAttributeNames: names,
			ExpressionAttributeValues: values, ReturnValues: c.ReturnValues, ReturnValuesOnConditionCheckFailure: c.ReturnValuesOnConditionCheckFailure,
		})
		if err != nil || out.Attributes == nil {
			return answers{}, err
		}
		return answers{"Attributes": wired(out.Attributes)}, nil
	case "PutItem":
		_, err := t.table().PutItem(ctx, &dynamodb.PutItemInput{
			Item: c.Item.typed(), ConditionExpression: c.ConditionExpression, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		})
		return answers{}, err
	case "DeleteItem":
		_, err := t.table().DeleteItem(ctx, &dynamodb.DeleteItemInput{
			Key: c.Key.typed(), ConditionExpression: c.ConditionExpression, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		})
		return answers{}, err
	case "TransactWriteItems":
		return answers{}, t.transact(ctx, c)
	}
	return nil, &smithy.GenericAPIError{Code: "UnknownOperationException", Message: operation}
}

func (t *Table) batchGet(ctx context.Context, c call) (map[string]any, error) {
	in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{}}
	for name, asked := range c.RequestItems {
		keys := types.KeysAndAttributes{ProjectionExpression: asked.ProjectionExpression, ExpressionAttributeNames: asked.ExpressionAttributeNames}
		for _, key := range asked.Keys {
			keys.Keys = append(keys.Keys, key.typed())
		}
		in.RequestItems[name] = keys
	}
	out, err := t.table().BatchGetItem(ctx, in)
	if err != nil {
		return nil, err
	}
	found := map[string][]item{}
	for name, all := range out.Responses {
		found[name] = wiredAll(all)
	}
	return map[string]any{"Responses": found, "UnprocessedKeys": map[string]any{}}, nil
}

func (t *Table) query(ctx context.Context, c call) (map[string]any, error) {
	out, err := t.table().Query(ctx, &dynamodb.QueryInput{
		IndexName: c.IndexName, Select: c.Select, Limit: c.Limit, ExclusiveStartKey: c.ExclusiveStartKey.typed(), ScanIndexForward: c.ScanIndexForward,
		ConsistentRead: c.ConsistentRead, KeyConditionExpression: c.KeyConditionExpression, FilterExpression: c.FilterExpression,
		ProjectionExpression: c.ProjectionExpression, ExpressionAttributeNames: c.ExpressionAttributeNames, ExpressionAttributeValues: c.ExpressionAttributeValues.typed(),
	})
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"Count": out.Count, "ScannedCount": out.ScannedCount}
	if c.Select != types.SelectCount {
		answer["Items"] = wiredAll(out.Items)
	}
	if out.LastEvaluatedKey != nil {
		answer["LastEvaluatedKey"] = wired(out.LastEvaluatedKey)
	}
	return answer, nil
}

// transact makes a transaction, once for each token.
func (t *Table) transact(ctx context.Context, c call) error {
	if _, done := t.done.Load(c.ClientRequestToken); done {
		return nil
	}
	in := new(dynamodb.TransactWriteItemsInput)
	for _, i := range c.TransactItems {
		var w types.TransactWriteItem
		switch {
		case i.Put != nil:
			w.Put = &types.Put{Item: i.Put.Item.typed(), ConditionExpression: i.Put.ConditionExpression,
				ExpressionAttributeNames: i.Put.ExpressionAttributeNames, ExpressionAttributeValues: i.Put.ExpressionAttributeValues.typed()}
		case i.Delete != nil:
			w.Delete = &types.Delete{Key: i.Delete.Key.typed(), ConditionExpression: i.Delete.ConditionExpression,
				ExpressionAttributeNames: i.Delete.ExpressionAttributeNames, ExpressionAttributeValues: i.Delete.ExpressionAttributeValues.typed()}
		case i.Update != nil:
			w.Update = &types.Update{Key: i.Update.Key.typed(), UpdateExpression: i.Update.UpdateExpression, ConditionExpression: i.Update.ConditionExpression,
				ExpressionAttributeNames: i.Update.ExpressionAttributeNames, ExpressionAttributeValues: i.Update.ExpressionAttributeValues.typed()}
		}
		in.TransactItems = append(in.TransactItems, w)
	}
	_, err := t.table().TransactWriteItems(ctx, in)
	if err == nil {
		t.done.Store(c.ClientRequestToken, true)
	}
	return err
}

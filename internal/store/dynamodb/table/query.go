package table

import (
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// InPartition returns a query for all items of a partition of the index.
func InPartition(partition string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		IndexName:                 aws.String(OpenIndex),
		KeyConditionExpression:    aws.String("#open = :open"),
		ExpressionAttributeValues: Item{":open": Text(partition)},
	}
}

// InIndex returns a query for those items of a partition of the index whose places fulfil the condition.
func InIndex(partition, places string, values Item) *dynamodb.QueryInput {
	in := InPartition(partition)
	in.KeyConditionExpression = aws.String("#open = :open AND #openAt " + places)
	maps.Copy(in.ExpressionAttributeValues, values)
	return in
}

// InTable returns a strongly consistent query for those items of a partition of the table whose sort keys fulfil the condition.
func InTable(partition, sorts string, values Item) *dynamodb.QueryInput {
	values = maps.Clone(values)
	values[":pk"] = Text(partition)
	return &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :pk AND #sk " + sorts),
		ExpressionAttributeValues: values,
		ConsistentRead:            aws.Bool(true),
	}
}

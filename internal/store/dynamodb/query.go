package dynamodb

import (
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// inPartition returns a query for all items of a partition of the index.
func inPartition(partition string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		IndexName:                 aws.String(OpenIndex),
		KeyConditionExpression:    aws.String("#open = :open"),
		ExpressionAttributeValues: item{":open": text(partition)},
	}
}

// inIndex returns a query for those items of a partition of the index whose places fulfil the condition.
func inIndex(partition, places string, values item) *dynamodb.QueryInput {
	in := inPartition(partition)
	in.KeyConditionExpression = aws.String("#open = :open AND #openAt " + places)
	maps.Copy(in.ExpressionAttributeValues, values)
	return in
}

// inTable returns a strongly consistent query for those items of a partition of the table whose sort keys fulfil the condition.
func inTable(partition, sorts string, values item) *dynamodb.QueryInput {
	values = maps.Clone(values)
	values[":pk"] = text(partition)
	return &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :pk AND #sk " + sorts),
		ExpressionAttributeValues: values,
		ConsistentRead:            aws.Bool(true),
	}
}

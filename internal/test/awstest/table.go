package awstest

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/store/dynamodb/table"
)

// createTable creates an empty table like the deployed one, except that nothing expires in it. The
// emulator would expire items by the machine's clock, but tests have clocks of their own.
func (e *Emulator) createTable(ctx context.Context, name string) error {
	client := sdk.NewFromConfig(e.Config())
	_, err := client.CreateTable(ctx, &sdk.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: strings(table.PartitionKey, table.SortKey, table.OpenPartition, table.OpenSort),
		KeySchema:            keys(table.PartitionKey, table.SortKey),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String(table.OpenIndex),
			KeySchema:  keys(table.OpenPartition, table.OpenSort),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		return err
	}
	return sdk.NewTableExistsWaiter(client).Wait(ctx, &sdk.DescribeTableInput{TableName: &name}, time.Minute)
}

func keys(partition, sort string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: &partition, KeyType: types.KeyTypeHash},
		{AttributeName: &sort, KeyType: types.KeyTypeRange},
	}
}

func strings(names ...string) []types.AttributeDefinition {
	var all []types.AttributeDefinition
	for _, name := range names {
		all = append(all, types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS})
	}
	return all
}

package stack

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/store/dynamodb"
	"lipsync/internal/store/dynamodb/table"
)

// addTable adds the table with all records.
func (s *service) addTable() {
	props := &awsdynamodb.TableProps{
		PartitionKey:        stringKey(table.PartitionKey),
		SortKey:             stringKey(table.SortKey),
		TimeToLiveAttribute: jsii.String(table.TimeToLive),
		BillingMode:         awsdynamodb.BillingMode_PAY_PER_REQUEST,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
		DeletionProtection: jsii.Bool(s.protected()),
		RemovalPolicy:      s.dataRemoval(),
	}
	if s.publishes() {
		props.Stream = awsdynamodb.StreamViewType_NEW_AND_OLD_IMAGES
	}
	s.table = awsdynamodb.NewTable(s.stack, jsii.String("Table"), props)
	s.table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
		IndexName:      jsii.String(table.OpenIndex),
		PartitionKey:   stringKey(table.OpenPartition),
		SortKey:        stringKey(table.OpenSort),
		ProjectionType: awsdynamodb.ProjectionType_ALL,
	})
}

func stringKey(name string) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: jsii.String(name), Type: awsdynamodb.AttributeType_STRING}
}

// useTable allows actions on the table's items. A transaction needs the right to the action of each
// of its items.
func (s *service) useTable(actions ...string) awsiam.PolicyStatement {
	for i, action := range actions {
		actions[i] = "dynamodb:" + action
	}
	return allow(actions, s.table.TableArn())
}

// onKeys restricts the statement to items whose partition keys match the patterns.
func onKeys(p awsiam.PolicyStatement, patterns []string) awsiam.PolicyStatement {
	p.AddCondition(jsii.String("ForAllValues:StringLike"), map[string]any{"dynamodb:LeadingKeys": patterns})
	return p
}

// exercise allows what a program does with the table.
func (s *service) exercise(rights dynamodb.Rights) (p policy) {
	for _, action := range slices.Sorted(maps.Keys(rights)) {
		statement := s.queryOpen()
		if action != dynamodb.IndexQuery {
			statement = s.useTable(action)
		}
		p = append(p, onKeys(statement, rights[action]))
	}
	return p
}

// queryOpen allows to query the table's index: for open requests, and for requests by status.
func (s *service) queryOpen() awsiam.PolicyStatement {
	return allow([]string{"dynamodb:Query"}, jsii.String(*s.table.TableArn()+"/index/"+table.OpenIndex))
}

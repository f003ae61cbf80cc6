package alarms

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbudgets"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/settings"
)

// budgets is the service of AWS that watches the bill.
const budgets = "budgets.amazonaws.com"

// addBudget lets AWS tell the topic of the alarms when the account's costs of a month go beyond the operator's budget, and when they are likely to. It counts
// the whole account, because the costs of one stack's tag are known only after its owner has activated the tag for billing.
func (w *watch) addBudget() {
	dollars := settings.MonthlyBudget.In(w.Values)
	if dollars == 0 {
		return
	}
	var told []any
	for _, kind := range []string{"ACTUAL", "FORECASTED"} {
		told = append(told, &awsbudgets.CfnBudget_NotificationWithSubscribersProperty{
			Notification: &awsbudgets.CfnBudget_NotificationProperty{
				NotificationType: jsii.String(kind), ComparisonOperator: jsii.String("GREATER_THAN"), Threshold: jsii.Number(100), ThresholdType: jsii.String("PERCENTAGE"),
			},
			Subscribers: []any{&awsbudgets.CfnBudget_SubscriberProperty{SubscriptionType: jsii.String("SNS"), Address: w.topic.TopicArn()}},
		})
	}
	awsbudgets.NewCfnBudget(w.Stack, jsii.String("Budget"), &awsbudgets.CfnBudgetProps{
		Budget: &awsbudgets.CfnBudget_BudgetDataProperty{
			BudgetType: jsii.String("COST"), TimeUnit: jsii.String("MONTHLY"),
			BudgetLimit: &awsbudgets.CfnBudget_SpendProperty{Amount: jsii.Number(dollars), Unit: jsii.String("USD")},
		},
		NotificationsWithSubscribers: told,
	})
}

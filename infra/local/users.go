package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"
)

// invite creates a user of the dashboard. Cognito's page asks them for their own password after
// they have entered the first one.
func (d *deployment) invite(ctx context.Context, email, password string) error {
	_, err := d.users().AdminCreateUser(ctx, &cognitoidentityprovider.AdminCreateUserInput{
		UserPoolId: aws.String(d.Outputs["UserPoolId"]), Username: &email, TemporaryPassword: &password,
		UserAttributes: []types.AttributeType{
			{Name: aws.String("email"), Value: &email}, {Name: aws.String("email_verified"), Value: aws.String("true")},
		},
	})
	return err
}

func (d *deployment) users() *cognitoidentityprovider.Client {
	return cognitoidentityprovider.NewFromConfig(d.config)
}

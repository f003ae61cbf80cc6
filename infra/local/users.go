package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"
)

// invite makes a user of the dashboard, whom Cognito's page asks for a password of
// their own once they have shown the first.
func (h *home) invite(ctx context.Context, email, password string) error {
	_, err := h.users().AdminCreateUser(ctx, &cognitoidentityprovider.AdminCreateUserInput{
		UserPoolId: aws.String(h.Outputs["UserPoolId"]), Username: &email, TemporaryPassword: &password,
		UserAttributes: []types.AttributeType{
			{Name: aws.String("email"), Value: &email}, {Name: aws.String("email_verified"), Value: aws.String("true")},
		},
	})
	return err
}

func (h *home) users() *cognitoidentityprovider.Client {
	return cognitoidentityprovider.NewFromConfig(h.config)
}

package account

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// These name the role by which API Gateway writes logs, for all APIs of an account and region.
const (
	logRole   = "ApiGatewayLogs"
	logPolicy = "arn:aws:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs"
	logTrust  = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"apigateway.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
)

// roleTime is the longest time until API Gateway sees a new role.
const roleTime = time.Minute

const iamVersion = "2010-05-08"

// MakeServiceRoles creates the roles that Batch and Spot instances need in an account. AWS would
// create Batch's role with the first compute environment, which then may fail because a new role
// is not usable at once. Existing roles stay unchanged.
func (a *Account) MakeServiceRoles(ctx context.Context) error {
	for _, service := range []string{"batch.amazonaws.com", "spot.amazonaws.com"} {
		err := a.query(ctx, "iam", iamVersion, "CreateServiceLinkedRole", url.Values{"AWSServiceName": {service}}, nil)
		if e, ok := errors.AsType[*Error](err); ok && (e.Code == "InvalidInput" && strings.Contains(e.Message, "has been taken") || e.Code == "EntityAlreadyExists") {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// MakeLogRole gives the account a role by which API Gateway writes logs, and reports whether it
// did. If the account has such a role already, it keeps that one, since all APIs of a region share
// it.
func (a *Account) MakeLogRole(ctx context.Context) (made bool, err error) {
	var account struct {
		Role string `json:"cloudwatchRoleArn"`
	}
	if err := a.json(ctx, "apigateway", http.MethodGet, "/account", nil, nil, &account); err != nil || account.Role != "" {
		return false, err
	}
	arn, err := a.makeRole(ctx)
	if err != nil {
		return false, err
	}
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value string `json:"value"`
	}
	change := map[string]any{"patchOperations": []operation{{"replace", "/cloudwatchRoleArn", arn}}}
	for deadline := time.Now().Add(roleTime); ; time.Sleep(2 * time.Second) {
		err := a.json(ctx, "apigateway", http.MethodPatch, "/account", http.Header{"Content-Type": {"application/json"}}, change, &account)
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) {
			return err == nil, err
		}
	}
}

// makeRole creates the role for logs, unless it exists, and returns its ARN.
func (a *Account) makeRole(ctx context.Context) (arn string, err error) {
	err = a.query(ctx, "iam", iamVersion, "CreateRole", url.Values{"RoleName": {logRole}, "AssumeRolePolicyDocument": {logTrust}}, nil)
	if e, ok := errors.AsType[*Error](err); err != nil && !(ok && e.Code == "EntityAlreadyExists") {
		return "", err
	}
	err = a.query(ctx, "iam", iamVersion, "AttachRolePolicy", url.Values{"RoleName": {logRole}, "PolicyArn": {logPolicy}}, nil)
	if err != nil {
		return "", err
	}
	var role struct {
		ARN string `xml:"GetRoleResult>Role>Arn"`
	}
	err = a.query(ctx, "iam", iamVersion, "GetRole", url.Values{"RoleName": {logRole}}, &role)
	return role.ARN, err
}

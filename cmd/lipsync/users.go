package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"lipsync/cmd/lipsync/internal/datafolder"
)

type endSessionsCommand struct {
	deploymentFlags
	Account string `placeholder:"NAME" help:"Account whose sessions end. On AWS it is the user's sub in the user pool (default on one machine: ${account})."`
}

// Run ends all sessions of the account in the dashboard. A running server refuses them at once.
func (c *endSessionsCommand) Run(ctx context.Context, s streams) error {
	known, err := c.endSessions(ctx)
	if err != nil {
		return err
	}
	if !known {
		_, err := fmt.Fprintf(s.Err, "%s has no keys and no requests of the account %s. If its name is right, all its sessions have ended.\n", c.deploymentFlags, c.Account)
		return err
	}
	_, err = fmt.Fprintf(s.Err, "All sessions of the account %s in %s have ended.\n", c.Account, c.deploymentFlags)
	return err
}

// endSessions reports whether the deployment knows the account: one of a user pool who only signed in has no records
// in the table.
func (c *endSessionsCommand) endSessions(ctx context.Context) (known bool, err error) {
	if c.Table != nil {
		if c.Account == "" {
			return false, errors.New("--account is missing: the user's sub, as aws cognito-idp list-users shows it")
		}
		store, err := openTable(ctx, *c.Table)
		if err != nil {
			return false, err
		}
		keys, keysErr := store.Keys.List(ctx, c.Account)
		_, requests, listErr := store.Requests.List(ctx, c.Account, "", 0, 1)
		return len(keys) > 0 || requests > 0, errors.Join(store.Sessions.EndAll(ctx, c.Account), keysErr, listErr)
	}
	c.Account = cmp.Or(c.Account, defaultAccount)
	if err := datafolder.Check(c.Data); err != nil {
		return false, err
	}
	folder, err := datafolder.OpenSignIn(c.Data)
	if err != nil {
		return false, err
	}
	return true, errors.Join(folder.EndAll(ctx, c.Account), folder.Close())
}

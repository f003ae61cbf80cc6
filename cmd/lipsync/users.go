package main

import (
	"context"
	"errors"
	"fmt"
)

type endSessionsCommand struct {
	deploymentFlags
	Account string `placeholder:"NAME" help:"Account whose sessions end. On AWS it is the user's sub in the user pool (default on one machine: ${account})."`
}

// Run ends all sessions of the account in the dashboard. A running server refuses them at once.
func (c *endSessionsCommand) Run(ctx context.Context, s streams) error {
	if err := c.endSessions(ctx); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.err, "All sessions of the account %s in %s have ended.\n", c.Account, c.deploymentFlags)
	return err
}

func (c *endSessionsCommand) endSessions(ctx context.Context) error {
	if c.Table != nil {
		if c.Account == "" {
			return errors.New("--account is missing: the user's sub, as aws cognito-idp list-users shows it")
		}
		store, err := openTable(ctx, *c.Table)
		if err != nil {
			return err
		}
		return store.EndAll(ctx, c.Account)
	}
	switch c.Account {
	case "":
		c.Account = defaultAccount
	case defaultAccount:
	default:
		return fmt.Errorf("only the account %s has sessions on one machine", defaultAccount)
	}
	if err := checkData(c.Data); err != nil {
		return err
	}
	folder, err := openSignIn(c.Data)
	if err != nil {
		return err
	}
	return errors.Join(folder.EndAll(ctx, c.Account), folder.Close())
}

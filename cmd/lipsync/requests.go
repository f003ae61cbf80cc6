package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
)

type listRequestsCommand struct {
	deploymentFlags
	Account     string `default:"${account}" help:"Account whose requests are listed (default: ${default})."`
	AllAccounts bool   `help:"List the requests of all accounts that have or had a key, and of the default account."`
	Failed      bool   `help:"List only requests that failed, except for those that were canceled."`
	Limit       int    `default:"50" placeholder:"N" help:"List at most so many requests of an account (default: ${default})."`
	JSON        bool   `help:"Print a JSON array."`
}

// Validate checks the options; kong calls it.
func (c *listRequestsCommand) Validate() error {
	if c.Limit < 1 {
		return errors.New("--limit must be 1 or more")
	}
	return nil
}

// requestJSON is a request in the output of requests list --json.
type requestJSON struct {
	ID          string         `json:"id"`
	Account     string         `json:"account"`
	Status      lipsync.Status `json:"status"`
	ReferenceID string         `json:"reference_id,omitzero"`
	Video       string         `json:"video,omitzero"` // name of its file
	CreatedAt   time.Time      `json:"created_at"`
	FinishedAt  *time.Time     `json:"finished_at"`
	Code        failure.Reason `json:"failure_code,omitzero"`
	Error       string         `json:"error_message,omitzero"`
	Reason      string         `json:"reason,omitzero"`
}

func (c *listRequestsCommand) Run(ctx context.Context, s streams) error {
	return c.withKept(ctx, base.Config{}, func(service *service.Service) error {
		accounts := []string{c.Account}
		if c.AllAccounts {
			keys, err := service.Keys(ctx, "")
			if err != nil {
				return err
			}
			accounts = []string{defaultAccount}
			for _, k := range keys {
				accounts = append(accounts, k.Account)
			}
			slices.Sort(accounts)
			accounts = slices.Compact(accounts)
		}
		all := []requestJSON{}
		for _, account := range accounts {
			found, err := c.find(ctx, service, account)
			if err != nil {
				return err
			}
			all = append(all, found...)
		}
		slices.SortStableFunc(all, func(a, b requestJSON) int { return b.CreatedAt.Compare(a.CreatedAt) })
		if c.JSON {
			encoder := json.NewEncoder(s.Out)
			encoder.SetIndent("", "  ")
			return encoder.Encode(all)
		}
		return printRequests(s.Out, all)
	})
}

// find returns the requests of an account that are listed, c.Limit at most.
func (c *listRequestsCommand) find(ctx context.Context, s *service.Service, account string) (all []requestJSON, err error) {
	q := lipsync.PlaceQuery{Account: account, Limit: 100}
	if c.Failed {
		q.Status = lipsync.Failed
	}
	for {
		page, next, err := s.Store.Requests.ListFrom(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			if c.Failed && r.Failure.Code == failure.Canceled {
				continue
			}
			all = append(all, requestJSON{
				ID: r.ID, Account: r.Account, Status: r.Status, ReferenceID: r.ReferenceID, Video: r.Video.Name, CreatedAt: r.CreatedAt.UTC(),
				FinishedAt: orNil(r.FinishedAt.UTC()), Code: r.Failure.Code, Error: r.Failure.Sentence(), Reason: r.Reason(),
			})
			if len(all) == c.Limit {
				return all, nil
			}
		}
		if q.Place = next; next == "" {
			return all, nil
		}
	}
}

func printRequests(w io.Writer, all []requestJSON) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CREATED\tACCOUNT\tSTATUS\tID\tREFERENCE\tREASON")
	for _, r := range all {
		why := r.Error
		if r.Reason != "" {
			why = strings.TrimPrefix(why+": "+r.Reason, ": ")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", when(r.CreatedAt, ""), r.Account, r.Status, r.ID, r.ReferenceID, why)
	}
	return table.Flush()
}

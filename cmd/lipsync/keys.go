package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
)

type createKeyCommand struct {
	deploymentFlags
	Name     string `required:"" help:"Name of the key, to tell it from others."`
	Account  string `default:"${account}" help:"Account whose requests the key sees and makes (default: ${default})."`
	MaxKeys  int
	Limit    *int64         `placeholder:"N" help:"Number of requests that the key may make (default: any number)."`
	ReadOnly bool           `help:"The key may only read: it makes, changes and deletes nothing."`
	Expires  *time.Duration `placeholder:"TIME" help:"Time after which the key is unknown, such as 2160h for 90 days (default: never)."`
	JSON     bool           `help:"Print the key, and the facts that keys list has, as JSON."`
}

// Validate checks the options; kong calls it.
func (c *createKeyCommand) Validate() error {
	if c.Limit != nil && *c.Limit < 1 {
		return errors.New("--limit must be 1 or more; leave it out for any number of requests")
	}
	if c.Expires != nil && *c.Expires <= 0 {
		return errors.New("--expires must be a time above 0, such as 2160h")
	}
	return nil
}

func (c *createKeyCommand) Run(ctx context.Context, s streams) error {
	return c.with(ctx, base.Config{Limits: lipsync.Limits{Keys: c.MaxKeys}}, func(service *service.Service) error {
		var limit int64 // 0: any number
		if c.Limit != nil {
			limit = *c.Limit
		}
		wanted := lipsync.Key{Account: c.Account, Name: c.Name, Limit: limit, ReadOnly: c.ReadOnly}
		if c.Expires != nil {
			wanted.ExpiresAt = time.Now().Add(*c.Expires)
		}
		token, k, err := service.NewKey(ctx, wanted)
		if err != nil {
			return sentence(err)
		}
		if _, err := fmt.Fprintf(s.Err, "The key is in %s. It is shown only once.\n", c.deploymentFlags); err != nil {
			return err
		}
		if c.JSON {
			return json.NewEncoder(s.Out).Encode(struct {
				Key string `json:"key"`
				keyJSON
			}{token, newKeyJSON(k)})
		}
		_, err = fmt.Fprintln(s.Out, token)
		return err
	})
}

type listKeysCommand struct {
	deploymentFlags
	JSON bool `help:"Print a JSON array."`
}

func (c *listKeysCommand) Run(ctx context.Context, s streams) error {
	return c.withKept(ctx, base.Config{}, func(service *service.Service) error {
		keys, err := service.Keys(ctx, "")
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.Out, keys)
		}
		return printTable(s.Out, keys)
	})
}

type revokeKeyCommand struct {
	deploymentFlags
	ID string `arg:"" help:"The key's id, as keys list shows it."`
}

func (c *revokeKeyCommand) Run(ctx context.Context) error {
	return c.withKept(ctx, base.Config{}, func(service *service.Service) error {
		return sentence(service.RevokeKey(ctx, "", c.ID))
	})
}

// sentence returns an error with only the public message of err, or err if it has no public message.
func sentence(err error) error {
	if code := failure.CodeOf(err); code == "" || code == failure.Internal {
		return err
	}
	return errors.New(failure.MessageOf(err))
}

// keyJSON is a key in the output of keys list --json.
type keyJSON struct {
	ID        string     `json:"id"`
	Account   string     `json:"account"`
	Name      string     `json:"name"`
	Start     string     `json:"start"` // of the token
	CreatedAt time.Time  `json:"created_at"`
	LastUsed  *time.Time `json:"last_used_at"`
	Limit     *int64     `json:"limit"` // null: any number
	Used      int64      `json:"used"`
	RevokedAt *time.Time `json:"revoked_at"`
	ExpiresAt *time.Time `json:"expires_at"` // null: never
	ReadOnly  bool       `json:"read_only"`
}

func newKeyJSON(k lipsync.Key) keyJSON {
	return keyJSON{
		ID: k.ID, Account: k.Account, Name: k.Name, Start: k.Start, CreatedAt: k.CreatedAt.UTC(),
		LastUsed: orNil(k.LastUsed), Limit: orNil(k.Limit), Used: k.Used, RevokedAt: orNil(k.RevokedAt),
		ExpiresAt: orNil(k.ExpiresAt), ReadOnly: k.ReadOnly,
	}
}

func printJSON(w io.Writer, keys []lipsync.Key) error {
	list := make([]keyJSON, 0, len(keys))
	for _, k := range keys {
		list = append(list, newKeyJSON(k))
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(list)
}

// orNil returns nil for a zero value.
func orNil[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func printTable(w io.Writer, keys []lipsync.Key) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tACCOUNT\tNAME\tKEY\tCREATED\tLAST USED\tLIMIT\tUSED\tMAY\tEXPIRES\tREVOKED")
	for _, k := range keys {
		limit := "none"
		if k.Limit > 0 {
			limit = fmt.Sprint(k.Limit)
		}
		may := "all"
		if k.ReadOnly {
			may = "read"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", k.ID, k.Account, k.Name, k.Start+"…",
			when(k.CreatedAt, ""), when(k.LastUsed, "never"), limit, k.Used, may, when(k.ExpiresAt, "never"), when(k.RevokedAt, "no"))
	}
	return table.Flush()
}

func when(t time.Time, zero string) string {
	if t.IsZero() {
		return zero
	}
	return t.UTC().Format(time.RFC3339)
}

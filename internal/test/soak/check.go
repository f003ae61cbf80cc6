package soak

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
)

// Check compares the service's records and objects with the answers that clients got. Call it once
// the clients have seen all requests end. completions returns the number of times that workers
// reported the completion of a request.
func (l *Load) Check(ctx context.Context, service *service.Service, completions func(id string) int) (Report, error) {
	c := &check{Load: l, report: l.report, service: service, completions: completions, records: make(map[string]lipsync.Request)}
	for i, token := range l.Tokens {
		if err := c.account(ctx, i, token); err != nil {
			return c.report, err
		}
	}
	err := service.Objects.List(ctx, "", func(key string, _ time.Time) error { return c.object(ctx, key) })
	return c.report, err
}

// check is one check of all records and objects.
type check struct {
	*Load
	report      Report // begins with the errors that clients saw
	service     *service.Service
	completions func(id string) int
	records     map[string]lipsync.Request // by id
	output      [sha256.Size]byte          // of the first output; all must be equal
}

// account checks the account of a key.
func (c *check) account(ctx context.Context, index int, token string) error {
	caller, err := c.service.Authenticate(ctx, token)
	if err != nil {
		return err
	}
	var made, free, failed int64
	var length time.Duration
	for _, j := range c.jobs {
		if j.token != token || j.id == "" {
			continue
		}
		made++
		r, err := c.job(ctx, j)
		if err != nil {
			return err
		}
		length += r.Length
		if r.Status == lipsync.Failed {
			failed++
			if r.Failure.Free() {
				free++
			}
		}
	}
	c.report.Jobs += int(made)
	_, total, err := c.service.Requests(ctx, caller, service.ListQuery{Limit: 1})
	if err != nil {
		return err
	}
	if total != made {
		c.report.Replies = append(c.report.Replies, fmt.Sprintf("key %d: got %d requests, want %d", index, total, made))
	}
	keys, err := c.service.Keys(ctx, caller.Account)
	if err != nil {
		return err
	}
	days, err := c.service.Usage(ctx, caller, c.service.Now(), 2) // midnight may have passed
	if err != nil {
		return err
	}
	got := lipsync.Day{Requests: days[0].Requests + days[1].Requests, Failed: days[0].Failed + days[1].Failed, Output: days[0].Output + days[1].Output}
	if want := (lipsync.Day{Requests: made, Failed: failed, Output: length}); len(keys) != 1 || keys[0].Used != made-free || got != want {
		c.report.Uses = append(c.report.Uses, fmt.Sprintf("key %d: got %+v and days of %+v, want %d uses and %+v", index, keys, got, made-free, want))
	}
	return nil
}

// job checks one request.
func (c *check) job(ctx context.Context, j *job) (lipsync.Request, error) {
	r, err := c.service.Store.Requests.ByID(ctx, j.id)
	if failure.CodeOf(err) == failure.NotFound {
		c.report.Lost = append(c.report.Lost, fmt.Sprintf("request %s: not found", j.id))
		return r, nil
	}
	if err != nil {
		return r, err
	}
	c.records[r.ID] = r
	switch {
	case r.Status == lipsync.Completed:
		c.report.Completed++
		if err := c.compare(ctx, r); err != nil {
			c.report.Lost = append(c.report.Lost, fmt.Sprintf("request %s: output %s: %v", r.ID, r.Output, err))
		}
	case r.Status == lipsync.Failed && r.Spent() && r.Failure.Code.Class() == failure.OfOurs:
		c.report.Failed++
	default:
		c.report.Lost = append(c.report.Lost, fmt.Sprintf("request %+v", r))
	}
	if n := c.completions(r.ID); n > 1 || !r.FinishedAt.Equal(j.end.FinishedAt) || string(r.Status) != j.end.Status {
		c.report.Twice = append(c.report.Twice, fmt.Sprintf("request %s: completed %d times; was %+v, is %s since %v", r.ID, n, j.end, r.Status, r.FinishedAt))
	}
	return r, nil
}

// compare compares the output with the first one: all requests have the same inputs, so all outputs
// must be equal.
func (c *check) compare(ctx context.Context, r lipsync.Request) error {
	object, _, err := c.service.Objects.Open(ctx, r.Output)
	if err != nil {
		return err
	}
	defer object.Close()
	content, err := io.ReadAll(object)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	if c.output == [sha256.Size]byte{} {
		c.output = sum
	}
	if sum != c.output {
		return fmt.Errorf("%d bytes that differ from the first output", len(content))
	}
	return nil
}

// object checks that a record names the object or needed it before. It counts the objects that their
// record no longer needs. Findings have no record.
func (c *check) object(ctx context.Context, key string) error {
	if strings.HasPrefix(key, "findings/") {
		return nil
	}
	needed, err := c.service.Needs(ctx, key)
	if err != nil || needed {
		return err
	}
	_, rest, _ := strings.Cut(key, "/")
	id, _, _ := strings.Cut(rest, "/")
	_, err = c.service.Store.Requests.ByID(ctx, id)
	if failure.CodeOf(err) == failure.NotFound {
		c.report.NoRecord = append(c.report.NoRecord, key)
		return nil
	}
	if _, ours := c.records[id]; ours {
		c.report.Spare++
	}
	return err
}

package account

import (
	"context"
	"net/http"
	"time"
)

// Logged returns the messages of a log group since the time that have the words.
func (a *Account) Logged(ctx context.Context, group, words string, since time.Time) (all []string, err error) {
	in := map[string]any{"logGroupName": group, "filterPattern": words, "startTime": since.UnixMilli()}
	for {
		var answer struct {
			Events    []struct{ Message string }
			NextToken string
		}
		err := a.json(ctx, "logs", http.MethodPost, "/", http.Header{
			"Content-Type": {"application/x-amz-json-1.1"}, "X-Amz-Target": {"Logs_20140328.FilterLogEvents"},
		}, in, &answer)
		for _, e := range answer.Events {
			all = append(all, e.Message)
		}
		if err != nil || answer.NextToken == "" {
			return all, err
		}
		in["nextToken"] = answer.NextToken
	}
}

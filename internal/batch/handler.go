package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/batch/types"
	"github.com/google/uuid"
)

// detail is what we read of a "Batch Job State Change".
type detail struct {
	JobName      string          `json:"jobName"`
	JobID        string          `json:"jobId"`
	Status       types.JobStatus `json:"status"`
	StatusReason string          `json:"statusReason"`
	StartedAt    int64           `json:"startedAt"` // Unix milliseconds; 0 if it never ran
	Container    struct {
		ExitCode *int   `json:"exitCode"` // nil if it never ran
		Reason   string `json:"reason"`
	} `json:"container"`
}

// Handler makes a function of Lambda that takes the events of an EventBridge rule
// on "Batch Job State Change", and hands on the ids of requests whose job failed,
// with the time when it started, zero if it never did.
// An error makes EventBridge send the event again.
func Handler(failed func(ctx context.Context, id string, started time.Time) error, log *slog.Logger) func(context.Context, events.EventBridgeEvent) error {
	return func(ctx context.Context, e events.EventBridgeEvent) error {
		var d detail
		if err := json.Unmarshal(e.Detail, &d); err != nil {
			return fmt.Errorf("read event %s: %w", e.ID, err)
		}
		if d.Status != types.JobStatusFailed {
			return nil
		}
		id, ok := requestOf(d.JobName)
		log.WarnContext(ctx, "job failed", "job", d.JobID, "request", id,
			"reason", d.StatusReason, "container", d.Container.Reason, "exit", d.Container.ExitCode)
		if !ok {
			return nil // somebody else's job
		}
		var started time.Time
		if d.StartedAt > 0 {
			started = time.UnixMilli(d.StartedAt)
		}
		if err := failed(ctx, id, started); err != nil {
			return fmt.Errorf("request %s: %w", id, err)
		}
		return nil
	}
}

// requestOf returns the request that a job of the name is for.
func requestOf(jobName string) (id string, ok bool) {
	id, ok = strings.CutPrefix(jobName, jobPrefix)
	parsed, err := uuid.Parse(id)
	if !ok || err != nil || parsed.String() != id {
		return "", false
	}
	return id, true
}

package fakebatch

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/batch/types"
	"github.com/google/uuid"
)

const arnPrefix = "arn:aws:batch:us-east-1:000000000000:"

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// summary is a job as ListJobs shows it. Times are in milliseconds.
type summary struct {
	JobARN       string          `json:"jobArn"`
	JobID        string          `json:"jobId"`
	JobName      string          `json:"jobName"`
	Status       types.JobStatus `json:"status"`
	StatusReason string          `json:"statusReason,omitempty"`
	CreatedAt    int64           `json:"createdAt"`
	StartedAt    int64           `json:"startedAt,omitempty"`
	StoppedAt    int64           `json:"stoppedAt,omitempty"`
}

// detail is a job as DescribeJobs and its events show it.
type detail struct {
	summary
	JobQueue      string          `json:"jobQueue"`
	JobDefinition string          `json:"jobDefinition"`
	Attempts      []detailAttempt `json:"attempts"`
	RetryStrategy retryStrategy   `json:"retryStrategy"`
	Container     container       `json:"container"`
}

type detailAttempt struct {
	Container    container `json:"container"`
	StartedAt    int64     `json:"startedAt,omitempty"`
	StoppedAt    int64     `json:"stoppedAt"`
	StatusReason string    `json:"statusReason"`
}

type retryStrategy struct {
	Attempts int `json:"attempts"`
}

type container struct {
	Command     []string   `json:"command,omitempty"`
	Environment []variable `json:"environment,omitempty"`
	ExitCode    *int       `json:"exitCode,omitempty"`
	Reason      string     `json:"reason,omitempty"`
}

func (j *job) summary() summary {
	s := summary{
		JobARN: arnPrefix + "job/" + j.id, JobID: j.id, JobName: j.name,
		Status: j.status, StatusReason: j.reason, CreatedAt: j.created.UnixMilli(),
	}
	if n := len(j.attempts); n > 0 {
		s.StartedAt, s.StoppedAt = j.attempts[n-1].startedAt(), j.attempts[n-1].stopped.UnixMilli()
	}
	return s
}

func (j *job) detail(o Options) detail {
	d := detail{
		summary: j.summary(), JobQueue: asARN("job-queue/", j.queue), JobDefinition: asARN("job-definition/", j.definition),
		Attempts: []detailAttempt{}, RetryStrategy: retryStrategy{o.Attempts},
	}
	for _, a := range j.attempts {
		c := container{ExitCode: &a.exit}
		if a.reason != "" {
			c = container{Reason: a.reason}
		}
		d.Attempts = append(d.Attempts, detailAttempt{c, a.startedAt(), a.stopped.UnixMilli(), j.reason})
		d.Container = c
	}
	d.Container.Command, d.Container.Environment = o.Command, j.env
	return d
}

// event is the "Batch Job State Change" that EventBridge gets of a job.
func (j *job) event(o Options) []byte {
	d := j.detail(o)
	event, err := json.Marshal(map[string]any{
		"version": "0", "id": uuid.NewString(), "detail-type": "Batch Job State Change", "source": "aws.batch",
		"account": "000000000000", "region": "us-east-1", "time": time.Now().UTC().Format(time.RFC3339),
		"resources": []string{d.JobARN}, "detail": d,
	})
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return event
}

// asARN returns the ARN of what is named by its name or its ARN.
func asARN(kind, name string) string {
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	return arnPrefix + kind + name
}

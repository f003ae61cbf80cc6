package fakebatch

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/batch/types"
)

const arnPrefix = "arn:aws:batch:us-east-1:000000000000:"

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
	Array        *array          `json:"arrayProperties,omitempty"`
}

// array counts the jobs of an array by status.
type array struct {
	Size   int                     `json:"size"`
	Status map[types.JobStatus]int `json:"statusSummary"`
}

// summaries returns the jobs of a queue in order of creation. The jobs of an array have one summary
// together. The caller must hold mu.
func (f *Fake) summaries(queue string) (all []summary) {
	for _, j := range f.jobs {
		switch {
		case asARN("job-queue/", j.queue) != asARN("job-queue/", queue):
		case j.array == "":
			all = append(all, j.summary())
		case len(all) > 0 && all[len(all)-1].JobID == j.array:
			all[len(all)-1].add(j)
		default:
			all = append(all, summary{
				JobARN: arnPrefix + "job/" + j.array, JobID: j.array, JobName: j.name, CreatedAt: j.created.UnixMilli(),
				Array: &array{Status: make(map[types.JobStatus]int)},
			})
			all[len(all)-1].add(j)
		}
	}
	return all
}

// add adds a job to its array.
func (s *summary) add(j *job) {
	a := s.Array
	a.Size++
	a.Status[j.status]++
	switch {
	case a.Status[types.JobStatusSucceeded]+a.Status[types.JobStatusFailed] < a.Size:
		s.Status = types.JobStatusPending
	case a.Status[types.JobStatusFailed] > 0:
		s.Status = types.JobStatusFailed
	default:
		s.Status = types.JobStatusSucceeded
	}
}

// detail is a job as DescribeJobs shows it.
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
	Command  []string `json:"command,omitempty"`
	ExitCode *int     `json:"exitCode,omitempty"`
	Reason   string   `json:"reason,omitempty"`
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
	d.Container.Command = o.Command
	return d
}

// asARN returns the ARN for a name or an ARN.
func asARN(kind, name string) string {
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	return arnPrefix + kind + name
}

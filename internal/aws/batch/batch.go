// Package batch starts runners as jobs of AWS Batch.
package batch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/batch"
	"github.com/aws/aws-sdk-go-v2/service/batch/types"

	"lipsync/internal/domain/lipsync"
)

// jobName is the name of all jobs.
const jobName = "lipsync"

// maxArray is the most jobs that Batch starts in one call.
const maxArray = 10_000

// Pool is a pool of workers, each a job, or one of an array of jobs.
type Pool struct {
	client            *batch.Client
	queue, definition string
}

// New returns a pool that submits jobs to the queue with the job definition. Both are names or
// ARNs.
func New(cfg aws.Config, queue, definition string) *Pool {
	return &Pool{client: batch.NewFromConfig(cfg), queue: queue, definition: definition}
}

var _ lipsync.Pool = (*Pool)(nil)

// Start submits jobs. Batch accepts 50 calls a second from an account; one call here
// starts up to 10,000 workers.
func (p *Pool) Start(ctx context.Context, n int) error {
	for n > 0 {
		size := min(n, maxArray)
		in := batch.SubmitJobInput{JobName: aws.String(jobName), JobQueue: &p.queue, JobDefinition: &p.definition}
		if size > 1 { // an array has at least two jobs
			in.ArrayProperties = &types.ArrayProperties{Size: aws.Int32(int32(size))}
		}
		if _, err := p.client.SubmitJob(ctx, &in); err != nil {
			return fmt.Errorf("submit %d jobs: %w", size, err)
		}
		n -= size
	}
	return nil
}

// statuses are those of jobs that have not ended. The status of an unfinished array is PENDING, after SUBMITTED: these two are listed one after the
// other, so that no array is missed.
var statuses = [][]types.JobStatus{{types.JobStatusSubmitted, types.JobStatusPending}, {types.JobStatusRunnable}, {types.JobStatusStarting}, {types.JobStatusRunning}}

// Count counts all jobs of the queue, no matter who submitted them. It lists most statuses at the same time, since
// small requests wait for it. Jobs without an array that move on in just that moment may be missed: then as many workers too many start.
func (p *Pool) Count(ctx context.Context) (waiting, running int, err error) {
	lists, errs := make([][]types.JobSummary, len(statuses)), make([]error, len(statuses))
	var all sync.WaitGroup
	for i, some := range statuses {
		all.Go(func() {
			for _, status := range some {
				jobs, err := p.list(ctx, status)
				lists[i], errs[i] = append(lists[i], jobs...), cmp.Or(errs[i], err)
			}
		})
	}
	all.Wait()
	if err := cmp.Or(errs...); err != nil {
		return 0, 0, fmt.Errorf("list jobs: %w", err)
	}
	seen := make(map[string]bool)
	for _, job := range slices.Concat(lists...) {
		if id := aws.ToString(job.JobId); !seen[id] {
			seen[id] = true
			w, r := count(job)
			waiting, running = waiting+w, running+r
		}
	}
	return waiting, running, nil
}

// list returns the jobs with the status. A page of the list has 1000.
func (p *Pool) list(ctx context.Context, s types.JobStatus) (jobs []types.JobSummary, err error) {
	for pages := batch.NewListJobsPaginator(p.client, &batch.ListJobsInput{JobQueue: &p.queue, JobStatus: s}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, page.JobSummaryList...)
	}
	return jobs, nil
}

// count returns how many workers an unfinished job stands for.
func count(job types.JobSummary) (waiting, running int) {
	array := job.ArrayProperties
	switch {
	case array != nil && array.Index != nil: // already counted with its array
		return 0, 0
	case array != nil && array.Size != nil:
		of := func(s types.JobStatus) int { return int(array.StatusSummary[string(s)]) }
		running = of(types.JobStatusRunning)
		return int(*array.Size) - running - of(types.JobStatusSucceeded) - of(types.JobStatusFailed), running
	case job.Status == types.JobStatusRunning:
		return 0, 1
	default:
		return 1, 0
	}
}

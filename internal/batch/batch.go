// Package batch has AWS Batch start a runner for a request, and tells which
// request a failed job was for.
package batch

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/batch"
	"github.com/aws/aws-sdk-go-v2/service/batch/types"
)

// RequestVariable is the environment variable in which a job finds its
// request's id.
const RequestVariable = "LIPSYNC_REQUEST"

// jobPrefix and a request's id are the name of its jobs.
const jobPrefix = "lipsync-"

// Jobs implements lipsync.Jobs.
type Jobs struct {
	client            *batch.Client
	queue, definition string
}

// New submits to the job queue, by the job definition: names or ARNs.
func New(cfg aws.Config, queue, definition string) *Jobs {
	return &Jobs{client: batch.NewFromConfig(cfg), queue: queue, definition: definition}
}

// Submit implements lipsync.Jobs. Two that ask at the same moment may make two
// jobs: Batch knows no condition. The second then finds its request taken.
func (j *Jobs) Submit(ctx context.Context, id string) error {
	name := jobPrefix + id
	waits, err := j.unfinished(ctx, name)
	if err != nil {
		return fmt.Errorf("list jobs: %w", err)
	}
	if waits {
		return nil
	}
	_, err = j.client.SubmitJob(ctx, &batch.SubmitJobInput{
		JobName: &name, JobQueue: &j.queue, JobDefinition: &j.definition,
		ContainerOverrides: &types.ContainerOverrides{Environment: []types.KeyValuePair{
			{Name: aws.String(RequestVariable), Value: &id},
		}},
	})
	if err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	return nil
}

// unfinished reports whether a job of the name waits or runs.
func (j *Jobs) unfinished(ctx context.Context, name string) (bool, error) {
	pages := batch.NewListJobsPaginator(j.client, &batch.ListJobsInput{
		JobQueue: &j.queue,
		Filters:  []types.KeyValuesPair{{Name: aws.String("JOB_NAME"), Values: []string{name}}},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return false, err
		}
		for _, job := range page.JobSummaryList {
			if job.Status != types.JobStatusSucceeded && job.Status != types.JobStatusFailed {
				return true, nil
			}
		}
	}
	return false, nil
}

// Package fakebatch is as much of AWS Batch as the service uses, on one machine:
// its REST API, which starts a process for each job. MiniStack's own says that
// every job succeeded at once.
package fakebatch

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/batch/types"
	"github.com/google/uuid"
)

// Options are what a job queue, its compute environment and a job definition say.
type Options struct {
	Command  []string      // of every job
	Env      []string      // NAME=value; a job sees nothing else, except what Batch adds
	Limit    int           // of processes at once; other jobs are RUNNABLE
	Attempts int           // to start a job
	Grace    time.Duration // from SIGTERM to SIGKILL when a job is terminated
	Log      *os.File      // of all jobs; nil for none
}

// Faults are what goes wrong from now on.
type Faults struct {
	Throttled int  // how many calls are refused as too many
	NoSubmit  bool // SubmitJob fails
}

// Fake is the http.Handler of the API. It is safe for concurrent use.
type Fake struct {
	options Options
	calls   http.ServeMux

	mu      sync.Mutex
	faults  Faults
	jobs    []*job // in order of creation
	running int
	refused int // calls of SubmitJob
	submits int // that were not
	closed  bool
	ended   sync.WaitGroup // processes
}

// New returns a Fake with no jobs.
func New(o Options) *Fake {
	f := &Fake{options: o}
	f.calls.HandleFunc("POST /v1/submitjob", f.submitJob)
	f.calls.HandleFunc("POST /v1/listjobs", f.listJobs)
	f.calls.HandleFunc("POST /v1/describejobs", f.describeJobs)
	f.calls.HandleFunc("POST /v1/terminatejob", f.terminateJob)
	return f
}

// SetFaults replaces the faults.
func (f *Fake) SetFaults(faults Faults) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = faults
}

// SetLimit replaces Options.Limit, for jobs that start from now on.
func (f *Fake) SetLimit(processes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.options.Limit = processes
	f.schedule()
}

// Refused counts the calls of SubmitJob that failed as Faults has it.
func (f *Fake) Refused() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused
}

// Idle reports whether no job waits or runs.
func (f *Fake) Idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !slices.ContainsFunc(f.jobs, func(j *job) bool {
		return j.status == types.JobStatusRunnable || j.status == types.JobStatusRunning
	})
}

// Signal sends the signal to the process of the job with the id: SIGTERM is
// what a reclaimed host does, SIGKILL what one does that runs out of memory.
func (f *Fake) Signal(id string, s syscall.Signal) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if j := f.find(id); j != nil && j.process != nil {
		return j.process.Process.Signal(s)
	}
	return fmt.Errorf("no job %s runs", id)
}

// Running returns the ids of the jobs that have a process, oldest first.
func (f *Fake) Running() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []string
	for _, j := range f.jobs {
		if j.process != nil {
			ids = append(ids, j.id)
		}
	}
	return ids
}

// Started returns how many jobs were ever submitted, each of an array by itself.
func (f *Fake) Started() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.jobs)
}

// Submits returns by how many calls of SubmitJob.
func (f *Fake) Submits() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.submits
}

// Close kills all jobs and starts no more.
func (f *Fake) Close() {
	f.mu.Lock()
	f.closed = true
	for _, j := range f.jobs {
		if j.process != nil {
			kill(j.process)
		}
	}
	f.mu.Unlock()
	f.ended.Wait()
}

// submit adds a job, or an array of so many, and starts it, if there is room.
func (f *Fake) submit(j job, size int) (id string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.faults.NoSubmit {
		f.refused++
		return "", errors.New("out of order")
	}
	f.submits++
	id = uuid.NewString()
	j.status, j.created = types.JobStatusRunnable, time.Now()
	if size == 0 {
		one := j
		one.id = id
		f.jobs = append(f.jobs, &one)
	}
	for i := range size {
		one := j
		one.array, one.id = id, fmt.Sprintf("%s:%d", id, i)
		f.jobs = append(f.jobs, &one)
	}
	f.schedule()
	return id, nil
}

// schedule starts the oldest jobs that wait, while there is room. It needs mu.
func (f *Fake) schedule() {
	for _, j := range f.jobs {
		if f.closed || f.running >= f.options.Limit {
			return
		}
		if j.status == types.JobStatusRunnable {
			f.running++
			f.start(j)
		}
	}
}

// terminate ends a job for the reason. An unknown job is no error.
func (f *Fake) terminate(id, reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	j := f.find(id)
	if j == nil {
		return
	}
	switch j.status {
	case types.JobStatusRunnable:
		j.status, j.reason = types.JobStatusFailed, reason
	case types.JobStatusRunning:
		j.terminated = reason
		if j.process != nil {
			j.stop(f.options.Grace)
		}
	}
}

// find needs mu.
func (f *Fake) find(id string) *job {
	for _, j := range f.jobs {
		if j.id == id {
			return j
		}
	}
	return nil
}

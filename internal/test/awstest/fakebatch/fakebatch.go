// Package fakebatch implements the part of AWS Batch that the service uses: a REST API that starts a
// process on this machine for each job. MiniStack has its own Batch, but that runs no jobs: it
// reports at once that every job succeeded.
package fakebatch

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/batch/types"
	"github.com/google/uuid"
)

// Options are the settings of job queues, their compute environments and job definitions.
type Options struct {
	Command  []string      // of each job
	Env      []string      // NAME=value; a job sees only these, those of its definition and what Batch adds
	Limit    int           // most processes at once; other jobs are RUNNABLE
	Attempts int           // tries to start a job
	Grace    time.Duration // between SIGTERM and SIGKILL, when a job is terminated
	Log      *os.File      // output of all jobs; nil discards it

	// Definitions has the variables of job definitions by their names. Those of Env take their places.
	Definitions map[string][]string
}

// Faults says what fails from now on.
type Faults struct {
	Throttled int  // number of calls to refuse because of too many calls
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
	refused int // calls of SubmitJob that failed
	submits int // calls of SubmitJob that succeeded
	closed  bool
	ended   sync.WaitGroup // counts processes
}

// New returns a Fake without jobs.
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

// SetLimit replaces Options.Limit for jobs that start from now on.
func (f *Fake) SetLimit(processes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.options.Limit = processes
	f.schedule()
}

// AddEnv adds variables to Options.Env, in place of those with the same names, for jobs that start from now on. remove removes them again.
func (f *Fake) AddEnv(more ...string) (remove func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.options.Env
	f.options.Env = append(before[:len(before):len(before)], more...)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.options.Env = before
	}
}

// Refused returns how many calls of SubmitJob failed because of Faults.
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

// Signal sends the signal to the process of the job with the id. A reclaimed host sends SIGTERM; a
// host without memory sends SIGKILL.
func (f *Fake) Signal(id string, s syscall.Signal) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if j := f.find(id); j != nil && j.process != nil {
		return j.process.Process.Signal(s)
	}
	return fmt.Errorf("job %s is not running", id)
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

// Queue returns the name of the queue of the job with the id, or "" if there is no such job.
func (f *Fake) Queue(id string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if j := f.find(id); j != nil {
		return path.Base(j.queue)
	}
	return ""
}

// Started returns how many jobs were submitted. Each job of an array counts.
func (f *Fake) Started() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.jobs)
}

// Submits returns how many calls of SubmitJob succeeded.
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

// submit adds a job, or an array of size jobs, and starts it as far as the limit allows.
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

// schedule starts the oldest waiting jobs, up to the limit. The caller must hold mu.
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

// terminate ends a job for the reason. An unknown job is not an error.
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

// find returns the job with the id, or nil. The caller must hold mu.
func (f *Fake) find(id string) *job {
	for _, j := range f.jobs {
		if j.id == id {
			return j
		}
	}
	return nil
}

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

// retryCode is the exit status after which the job definition has Batch try again.
// It does so too where a container could not be started. After any other status the
// job failed.
const retryCode = 75

// Options are what a job queue, its compute environment and a job definition say.
type Options struct {
	Command  []string      // of every job
	Env      []string      // NAME=value; a job sees nothing else, but what SubmitJob adds
	Limit    int           // of processes at once; other jobs are RUNNABLE
	Attempts int           // of a job
	Grace    time.Duration // from SIGTERM to SIGKILL when a job is terminated
	Log      *os.File      // of all jobs; nil for none
	// Failed gets the "Batch Job State Change" of each job that failed, one call
	// at a time.
	Failed func(event []byte)
}

// Faults are what goes wrong from now on.
type Faults struct {
	Throttled  int  // how many calls are refused as too many
	NoSubmit   bool // SubmitJob fails
	LoseEvents bool // nobody hears of failed jobs
	// AgainAfter are the times after which each event of a failed job comes once more.
	AgainAfter []time.Duration
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
	closed  bool
	ended   sync.WaitGroup // processes

	telling sync.Mutex
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

// Signal sends the signal to the process of the job with the name: SIGTERM is
// what a reclaimed host does, SIGKILL what one does that runs out of memory.
func (f *Fake) Signal(jobName string, s syscall.Signal) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.jobs {
		if j.name == jobName && j.process != nil {
			return j.process.Process.Signal(s)
		}
	}
	return fmt.Errorf("no job %s runs", jobName)
}

// Running returns the names of the jobs that have a process, oldest first.
func (f *Fake) Running() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for _, j := range f.jobs {
		if j.process != nil {
			names = append(names, j.name)
		}
	}
	return names
}

// Close kills all jobs and starts no more. Nobody is told.
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

// submit adds a job and starts it, if there is room.
func (f *Fake) submit(name, queue, definition string, env []variable) (*job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.faults.NoSubmit {
		f.refused++
		return nil, errors.New("out of order")
	}
	j := &job{
		id: uuid.NewString(), name: name, queue: queue, definition: definition, env: env,
		status: types.JobStatusRunnable, created: time.Now(),
	}
	f.jobs = append(f.jobs, j)
	f.schedule()
	return j, nil
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
		j.reason = reason
		f.fail(j)
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

// fail makes a job FAILED and tells of it. It needs mu.
func (f *Fake) fail(j *job) {
	j.status = types.JobStatusFailed
	if f.faults.LoseEvents || f.closed || f.options.Failed == nil {
		return
	}
	event := j.event(f.options)
	f.ended.Go(func() { f.tell(event) })
	for _, pause := range f.faults.AgainAfter {
		time.AfterFunc(pause, func() {
			if !f.isClosed() {
				f.tell(event)
			}
		})
	}
}

func (f *Fake) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

func (f *Fake) tell(event []byte) {
	f.telling.Lock()
	defer f.telling.Unlock()
	f.options.Failed(event)
}

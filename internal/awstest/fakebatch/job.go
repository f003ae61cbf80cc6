package fakebatch

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/batch/types"
)

// job is one job, guarded by the Fake's mu.
type job struct {
	id, name, queue, definition string
	array                       string // its id, if the job is of one
	status                      types.JobStatus
	reason                      string // of the status
	terminated                  string // why TerminateJob was called
	created                     time.Time
	attempts                    []attempt

	process *exec.Cmd // while one runs
	gone    chan struct{}
}

// attempt is one process of a job.
type attempt struct {
	started, stopped time.Time
	exit             int
	reason           string // why it didn't start
}

// startedAt is in Unix milliseconds, or 0 for an attempt that didn't start.
func (a attempt) startedAt() int64 {
	if a.reason != "" {
		return 0
	}
	return a.started.UnixMilli()
}

// start starts one attempt of a job. It needs mu.
func (f *Fake) start(j *job) {
	j.status = types.JobStatusRunning
	cmd := exec.Command(f.options.Command[0], f.options.Command[1:]...)
	cmd.Env = append(cmd.Env, f.options.Env...)
	cmd.Env = append(cmd.Env, "AWS_BATCH_JOB_ID="+j.id, fmt.Sprintf("AWS_BATCH_JOB_ATTEMPT=%d", len(j.attempts)+1))
	if f.options.Log != nil {
		cmd.Stdout, cmd.Stderr = f.options.Log, f.options.Log
	}
	// A container ends with all that it runs: hence the group. None outlives us.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	a := attempt{started: time.Now()}
	if err := cmd.Start(); err != nil {
		a.reason = "CannotStartContainerError: " + err.Error()
	} else {
		j.process, j.gone = cmd, make(chan struct{})
	}
	f.ended.Go(func() { f.await(j, cmd, a) })
}

// await waits until an attempt ends, and settles what becomes of the job.
func (f *Fake) await(j *job, cmd *exec.Cmd, a attempt) {
	if a.reason == "" {
		_ = cmd.Wait() // its state says all
		kill(cmd)      // what it left
		a.exit = exitCode(cmd)
		close(j.gone)
	}
	a.stopped = time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	j.process = nil
	j.attempts = append(j.attempts, a)
	f.running--
	f.settle(j, a)
	f.schedule()
}

// settle gives a job the status that follows from its last attempt. It needs mu.
func (f *Fake) settle(j *job, a attempt) {
	j.status, j.reason = types.JobStatusFailed, "Essential container in task exited"
	switch {
	case j.terminated != "":
		j.reason = j.terminated
	case a.reason != "" && len(j.attempts) < f.options.Attempts:
		j.status = types.JobStatusRunnable
	case a.reason != "":
		j.reason = "Task failed to start"
	case a.exit == 0:
		j.status = types.JobStatusSucceeded
	}
}

// exitCode is what Docker says of an end: that of a signal is 128 and its number.
func exitCode(cmd *exec.Cmd) int {
	if s := cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		return 128 + int(s.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// stop asks the process to end, and ends it if it does not.
func (j *job) stop(grace time.Duration) {
	_ = j.process.Process.Signal(syscall.SIGTERM) // it may have ended
	cmd, gone := j.process, j.gone
	go func() {
		select {
		case <-gone:
		case <-time.After(grace):
			kill(cmd)
		}
	}()
}

// kill ends a process and all that it started. They may have ended.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

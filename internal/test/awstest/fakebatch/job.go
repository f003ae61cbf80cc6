package fakebatch

import (
	"fmt"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/batch/types"
)

// job is one job. The Fake's mu guards it.
type job struct {
	id, name, queue, definition string
	array                       string // id of its array, if it is in one
	status                      types.JobStatus
	reason                      string // of the status
	terminated                  string // why TerminateJob was called
	created                     time.Time
	attempts                    []attempt

	process *exec.Cmd // while the job runs
	gone    chan struct{}
}

// attempt is one process of a job.
type attempt struct {
	started, stopped time.Time
	exit             int
	reason           string // why it did not start
}

// startedAt returns the start in Unix milliseconds, or 0 for an attempt that did not start.
func (a attempt) startedAt() int64 {
	if a.reason != "" {
		return 0
	}
	return a.started.UnixMilli()
}

// start starts one attempt of a job. The caller must hold mu.
func (f *Fake) start(j *job) {
	j.status = types.JobStatusRunning
	cmd := exec.Command(f.options.Command[0], f.options.Command[1:]...)
	cmd.Env = slices.Concat(f.options.Definitions[path.Base(j.definition)], f.options.Env)
	cmd.Env = append(cmd.Env, "AWS_BATCH_JOB_ID="+j.id, fmt.Sprintf("AWS_BATCH_JOB_ATTEMPT=%d", len(j.attempts)+1))
	if f.options.Log != nil {
		cmd.Stdout, cmd.Stderr = f.options.Log, f.options.Log
	}
	// A container ends with all processes in it, so each job has its own process group. No job
	// outlives this process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	a := attempt{started: time.Now()}
	begun := make(chan struct{})
	f.ended.Go(func() {
		runtime.LockOSThread() // The kernel kills the job when the thread that started it ends.
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			a.reason = "CannotStartContainerError: " + err.Error()
		} else {
			j.process, j.gone = cmd, make(chan struct{})
		}
		close(begun)
		f.await(j, cmd, a)
	})
	<-begun
}

// await waits until an attempt ends, and then updates the job.
func (f *Fake) await(j *job, cmd *exec.Cmd, a attempt) {
	if a.reason == "" {
		_ = cmd.Wait() // cmd.ProcessState has the result
		kill(cmd)      // ends the processes that it left
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

// settle sets a job's status after its last attempt. The caller must hold mu.
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

// exitCode returns the exit status as Docker reports it: 128 plus the number for a signal.
func exitCode(cmd *exec.Cmd) int {
	if s := cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		return 128 + int(s.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// stop asks the process to end, and kills it after the grace time.
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

// kill kills a process and all that it started. They may have ended.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

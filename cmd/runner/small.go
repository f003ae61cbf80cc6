package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/invoke"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/service"
	"lipsync/internal/domain/settings"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/work/worker"
)

// These are the arguments with which the program is the function of small requests on Lambda, and with which that function starts it for one
// request. The time follows at which the request must end, in seconds since 1970.
const (
	asFunction = "function"
	asRequest  = "request"
)

// processFolder begins the name of the folder of a request's process.
const processFolder = "process-"

// These are exit statuses of asRequest, besides those of the program.
const (
	none     = 3 // no request waits
	enlarged = 4 // it gave the request back as a large one
)

const (
	// functionMargin is the time from the end of an attempt that takes too long to the end of the invocation.
	functionMargin = 30 * time.Second
	// stopTime is the time in which a request's process ends after it was told to stop.
	stopTime = 10 * time.Second
)

// errUnsafe means that this host lacks a layer of the sandbox without which the function does no request. Its hosts run the media of several
// accounts, one after the other.
var errUnsafe = errors.New("no request is done, since the sandbox of ffmpeg has no seccomp here")

// function does small requests in invocations by Lambda.
type function struct {
	*job
	deployment *cloud.Deployment
	program    string // its own path
	stdout     io.Writer
	stderr     io.Writer
}

// serve handles the invocations by Lambda, and never returns.
func (f *function) serve(ctx context.Context) {
	tools, err := ffmpeg.Find(1)
	err = errors.Join(err, f.clean())
	if err == nil {
		f.deployment.Log.Info("sandbox of ffmpeg", "layers", tools.Sandbox)
		if !tools.Sandbox.Seccomp {
			err = errUnsafe
		}
	}
	lambda.StartWithOptions(func(ctx context.Context, c invoke.Event) error { return f.handle(ctx, c, err) }, lambda.WithContext(ctx))
}

// clean removes the files of requests whose invocation was killed: Lambda keeps them, and starts the program again.
func (f *function) clean() error {
	left, err := filepath.Glob(filepath.Join(f.scratch, processFolder+"*"))
	for _, folder := range left {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	return err
}

// handle does small requests until none waits or half of the invocation's time is over. unable is the reason why this process can't do any.
func (f *function) handle(ctx context.Context, c invoke.Event, unable error) (err error) {
	if err := failure.Unless(failure.NotFound, f.records.BeginSmall(ctx, c.Start)); err != nil { // the answer to an earlier try was lost
		return errors.Join(unable, err)
	}
	defer func() {
		err = errors.Join(err, failure.Unless(failure.NotFound, f.records.EndSmall(context.WithoutCancel(ctx), c.Start)))
	}()
	if errors.Is(unable, errUnsafe) {
		return errors.Join(unable, f.pass(ctx))
	}
	if unable != nil {
		return unable
	}
	end, _ := ctx.Deadline() // Lambda always gives one
	begin, cancel := context.WithTimeout(ctx, time.Until(end)/2)
	defer cancel()
	return worker.StayApart(ctx, begin, service.NewWork(f.deployment.Service.Base, f.records), f.deployment.Log,
		func(ctx context.Context) (bool, error) { return f.apart(ctx, end.Add(-functionMargin)) })
}

// pass makes one small request large, the one for which this invocation was started, so that a runner does it. Without that, it would wait until the
// sweep finds it late, and small workers would start for it that can't do it either. Other requests may find a safe host.
func (f *function) pass(ctx context.Context) error {
	r, err := f.records.Claim(ctx, "")
	if err != nil {
		return failure.Unless(failure.NotFound, err)
	}
	f.deployment.Log.Error("given to runners", "request", r.ID, "error", errUnsafe)
	return failure.Unless(failure.Conflict, f.records.Enlarge(ctx, r))
}

// apart does what Worker.Do does in a process of its own, so that no two requests share one. Its files are deleted when it ends.
func (f *function) apart(ctx context.Context, end time.Time) (found bool, err error) {
	folder, err := os.MkdirTemp(f.scratch, processFolder)
	if err != nil {
		return false, err
	}
	defer func() {
		if left := os.RemoveAll(folder); left != nil {
			err = errors.Join(err, left)
		}
	}()
	c := exec.CommandContext(ctx, f.program, asRequest, strconv.FormatInt(end.Unix(), 10))
	c.Env = append(os.Environ(), settings.Scratch.Env()+"="+folder, "TMPDIR="+folder)
	c.Stdout, c.Stderr = f.stdout, f.stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(syscall.SIGTERM) }, stopTime
	err = c.Run()
	if c.Process != nil {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // what it started and left
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return true, nil
	case ok && exit.ExitCode() == none:
		return false, nil
	case ok && exit.ExitCode() == enlarged:
		return true, worker.ErrEnlarged
	}
	return false, fmt.Errorf("the process of a request: %w", err)
}

// one does the next request, which must end at the time, in seconds since 1970. It returns the exit status if there is no error.
func (j *job) one(ctx context.Context, deployment *cloud.Deployment, end string) (status int, err error) {
	seconds, err := strconv.ParseInt(end, 10, 64)
	if err != nil {
		return failed, fmt.Errorf("%s: %w", asRequest, err)
	}
	err = j.withWorker(ctx, deployment, time.Unix(seconds, 0), func(w *worker.Worker) error {
		found, err := w.Do(ctx, "")
		switch {
		case err == worker.ErrEnlarged:
			status, err = enlarged, nil
		case !found:
			status = none
		}
		return err
	})
	return status, err
}

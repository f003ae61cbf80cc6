// Command runner is the program of a job of AWS Batch. It does requests as long as any wait, so
// that one start of a machine serves many. With the argument function it is the function of Lambda that does small ones.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/config"

	"lipsync/internal/aws/awsclient"
	"lipsync/internal/aws/cloud"
	"lipsync/internal/domain/version"
	"lipsync/internal/media/sandbox"
)

// These are exit statuses.
const (
	done   = 0
	failed = 1
)

func main() {
	if err := sandbox.Hide(); err != nil {
		fmt.Fprintf(os.Stderr, "runner: %v\n", err)
		os.Exit(failed)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // as in cmd/lipsync, where frames fill the heap
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run does the job, and returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("runner", flag.ContinueOnError)
	flags.SetOutput(stderr)
	showVersion := flags.Bool("version", false, "print the version")
	flags.Usage = func() { fmt.Fprint(stdout, help()) }
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return done
	} else if err != nil || flags.NArg() != map[string]int{asFunction: 1, asRequest: 2}[flags.Arg(0)] {
		fmt.Fprintln(stderr, "runner: takes no argument but function. Try: runner --help")
		return failed
	}
	if *showVersion {
		fmt.Fprintf(stdout, "runner %s\n", version.String())
		return done
	}
	var j job
	configured, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		fmt.Fprintf(stderr, "runner: configure AWS: %v\n", err)
		return failed
	}
	awsclient.KeepAnswers(&configured)
	deployment, err := cloud.New(configured, getenv, stdout, j.read)
	if err != nil {
		fmt.Fprintf(stderr, "runner: %v\n", err)
		return failed
	}
	switch flags.Arg(0) {
	case asFunction:
		program, err := os.Executable()
		if err != nil {
			fmt.Fprintf(stderr, "runner: %v\n", err)
			return failed
		}
		(&function{&j, deployment, program, stdout, stderr}).serve(ctx)
	case asRequest:
		ended, err := j.one(ctx, deployment, flags.Arg(1))
		if err == nil && ended != done {
			return ended
		}
		return status(ctx, err, deployment.Log)
	}
	deployment.Log = deployment.Log.With("job", getenv("AWS_BATCH_JOB_ID"), "job_attempt", getenv("AWS_BATCH_JOB_ATTEMPT"))
	return status(ctx, j.do(ctx, deployment), deployment.Log)
}

// status logs how the job ended, and returns the exit status for it.
func status(ctx context.Context, err error, log *slog.Logger) int {
	switch {
	case err != nil && ctx.Err() == nil:
		log.Error("job failed", "error", err)
		return failed
	case ctx.Err() != nil:
		log.Info("job interrupted", "error", err)
		return done
	default:
		log.Info("job done")
		return done
	}
}

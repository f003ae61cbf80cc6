// Command local starts the AWS deployment on an emulator on this machine. It deploys the stack of
// infra from a template with as few changes as the emulator needs. This process takes the place of
// AWS Batch.
//
// It prints API_URL=… and API_KEY=… once clients can call, and DASHBOARD_URL=… with a user and
// password. It runs until it is interrupted, and then removes everything that it created.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/settings"
	"lipsync/internal/test/awstest"
)

const usualPort = 4566 // of emulators

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, compile, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// compiler is compile, or returns what it has built before.
type compiler func(ctx context.Context, root, dir string) (*built, error)

// serve does the whole command until ctx ends, and then removes what it created.
func serve(ctx context.Context, build compiler, arguments []string, out io.Writer, errs *os.File) error {
	var made undo
	err := bringUp(ctx, build, arguments, out, errs, &made)
	return made.after(ctx, err)
}

// bringUp builds and deploys the service, and lets clients call it.
func bringUp(ctx context.Context, build compiler, arguments []string, out io.Writer, errs *os.File, made *undo) error {
	flags := flag.NewFlagSet("local", flag.ExitOnError)
	endpoint := flags.String("endpoint", "", "use the emulator at this `URL` instead of starting one")
	host := flags.String("host", "127.0.0.1", "`address` of this machine by which that emulator's functions reach it")
	generateRate := flags.String(settings.GenerateRate.Name, settings.GenerateRate.Default, settings.GenerateRate.Help)
	readRate := flags.String(settings.ReadRate.Name, settings.ReadRate.Default, settings.ReadRate.Help)
	noSignIn := flags.Bool("no-sign-in", false, "leave out Cognito, and with it the dashboard, for emulators without it")
	sam := flags.String("sam", "", "write a template and events for the SAM CLI to this `folder`")
	_ = flags.Parse(arguments) // it exits on errors

	root, err := os.Getwd()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lipsync-local-")
	if err != nil {
		return err
	}
	made.add("the folder "+dir, func(context.Context) error { return os.RemoveAll(dir) })
	fmt.Fprintln(errs, "Building the functions, the runner and the template …")
	b, err := build(ctx, root, dir)
	if err != nil {
		return err
	}
	if err := b.synth(ctx, root, filepath.Join(dir, "cdk.out"), decisions{settings.GenerateRate.Context(): *generateRate, settings.ReadRate.Context(): *readRate}); err != nil {
		return err
	}
	config, err := emulator(ctx, *endpoint, made)
	if err != nil {
		return err
	}
	fmt.Fprintf(errs, "Deploying to %s …\n", *config.BaseEndpoint)
	d, err := start(ctx, options{
		built: *b, Config: config, Host: *host, Scratch: dir, Jobs: max(1, runtime.NumCPU()/4), Small: max(1, runtime.NumCPU()/4),
		JobEnv: []string{settings.AllowPrivateNetworks.Env() + "=true"}, JobLog: errs,
		Log: slog.New(slog.NewTextHandler(errs, nil)), Made: made, NoSignIn: *noSignIn,
	})
	if err != nil {
		return err
	}
	made.add("the jobs", func(context.Context) error { d.close(); return nil })
	token, _, err := d.service.CreateKey(ctx, "default", "local", 0)
	if err != nil {
		return err
	}
	if *sam != "" {
		if err := errors.Join(os.MkdirAll(*sam, 0o755), d.writeSAM(ctx, *sam, b.Functions, filepath.Join(root, "events"), token)); err != nil {
			return err
		}
		fmt.Fprintf(errs, "Call a function: sam local invoke --docker-network host -t %[1]s/template.json Me -e %[1]s/events/me.json\n", *sam)
	}
	if err := d.greet(ctx, out, errs, token, !*noSignIn); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// greet prints how to call the service and, if people can sign in, how they do.
func (d *deployment) greet(ctx context.Context, out, errs io.Writer, token string, signIn bool) error {
	fmt.Fprintln(errs, "Inputs are fetched from private networks and this machine too. Ctrl-C ends it all.")
	if !signIn {
		_, err := fmt.Fprintf(out, "API_URL=%s\nAPI_KEY=%s\n", d.Outputs["ApiUrl"], token)
		return err
	}
	email, password := "you@example.com", "Aa1-"+rand.Text() // with all kinds of characters that the pool requires
	if err := d.invite(ctx, email, password); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "API_URL=%s\nAPI_KEY=%s\nDASHBOARD_URL=%s\nDASHBOARD_USER=%s\nDASHBOARD_PASSWORD=%s\n",
		d.Outputs["ApiUrl"], token, d.Outputs["DashboardUrl"], email, password)
	return err
}

// emulator returns the configuration for clients of the emulator at the endpoint. If endpoint is
// "", it starts one, on the usual port or any free one.
func emulator(ctx context.Context, endpoint string, made *undo) (aws.Config, error) {
	if endpoint != "" {
		return awstest.Config(endpoint), nil
	}
	e, err := awstest.Start(ctx, awstest.Options{Port: usualPort})
	if errors.Is(err, syscall.EADDRINUSE) {
		e, err = awstest.Start(ctx, awstest.Options{})
	}
	if err != nil {
		return aws.Config{}, err
	}
	made.add("the emulator", func(context.Context) error { e.Stop(); return nil })
	return e.Config(), nil
}

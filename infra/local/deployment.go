package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/service"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/awstest/fakebatch"
	"lipsync/internal/test/awstest/fakelambda"
)

// options says how to start the service on an emulator.
type options struct {
	built
	Config  aws.Config // of clients of the emulator
	Host    string     // host name by which the emulator's functions reach this machine
	Scratch string     // an existing folder for jobs
	Jobs    int        // most at once
	Small   int        // small workers, most at once; jobs do all if 0
	JobEnv  []string   // NAME=value, in addition to or in place of the job definition's
	JobLog  *os.File   // of all jobs; nil discards it
	Log     *slog.Logger
	Made    *undo // records what is created at the emulator

	NoSignIn bool // leaves out Cognito: then the dashboard doesn't work
}

// deployment is the AWS deployment of the service on an emulator. This process takes the place of
// Batch, and of Lambda for the function of small requests.
type deployment struct {
	URL     string // of the API, without its stage
	Outputs map[string]string
	Batch   *fakebatch.Fake
	Small   *fakelambda.Fake

	service      *service.Service // on the stack's table, with the rights of the stack's operator
	config       aws.Config
	log          *slog.Logger
	stack        string
	scratch      string
	batchAddress string
	servers      []*http.Server
}

// start deploys what was built. It returns once clients can call it.
func start(ctx context.Context, o options) (_ *deployment, err error) {
	endpoint, err := url.Parse(*o.Config.BaseEndpoint)
	if err != nil {
		return nil, err
	}
	a, err := readAssembly(o.Assembly)
	if err != nil {
		return nil, err
	}
	dep := &deployment{config: o.Config, log: o.Log, stack: a.Stack, scratch: o.Scratch}
	d, err := newDeployer(ctx, o.Config, o.Made)
	if err != nil {
		return nil, err
	}
	jobs, clients, err := listen(o.Host)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_, _ = jobs.Close(), clients.Close()
		}
	}()
	dep.batchAddress, dep.URL = jobs.Addr().String(), "http://"+clients.Addr().String()
	attempts, err := a.Template.jobAttempts() // before adapt removes the job definition
	if err != nil {
		return nil, err
	}
	var others []string
	if o.NoSignIn {
		others = []string{"AWS::Cognito::"}
	}
	names, small, err := a.Template.adapt(others, places{Batch: "http://" + dep.batchAddress, Small: o.Small, API: dep.URL, Pages: *o.Config.BaseEndpoint})
	if err != nil {
		return nil, err
	}
	if dep.Outputs, err = d.deploy(ctx, a); err != nil {
		return nil, err
	}
	store := dynamodb.New(o.Config, dep.Outputs["TableName"]).Store
	if dep.service, err = service.New(base.Config{}, base.Ports{Store: store}); err != nil {
		return nil, err
	}
	dep.Batch, dep.Small = dep.newBatch(names, attempts, o), dep.newSmall(small, o)
	mux := http.NewServeMux()
	mux.HandleFunc(credentialsPath, dep.serveCredentials)
	mux.Handle("/", dep.Batch)
	mux.Handle("/2015-03-31/", dep.Small)
	mux.Handle("/call/", dep.Small)
	dep.serve(jobs, mux)
	dep.serve(clients, edge(endpoint, dep.Outputs[outputAPI], dep.log))
	return dep, nil
}

// listen opens a port for the emulator's functions, at an address by which they reach this
// machine, and one for clients.
func listen(host string) (jobs, clients net.Listener, err error) {
	if jobs, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
		return nil, nil, err
	}
	if clients, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		_ = jobs.Close()
	}
	return jobs, clients, err
}

func (d *deployment) serve(l net.Listener, handler http.Handler) {
	s := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	d.servers = append(d.servers, s)
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			d.log.Error("serve", "address", l.Addr(), "error", err)
		}
	}()
}

// close ends the jobs, and closes the ports. The stack stays.
func (d *deployment) close() {
	d.Batch.Close()
	d.Small.Close()
	for _, s := range d.servers {
		_ = s.Close() // drops open connections
	}
}

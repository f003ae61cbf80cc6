package main

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/uuid"

	"lipsync/internal/awstest/fakebatch"
	"lipsync/internal/dynamodb"
	"lipsync/internal/lipsync"
)

// options say how to bring the service up on an emulator.
type options struct {
	built
	Config  aws.Config // of clients of the emulator
	Host    string     // how the emulator's functions reach this machine
	Scratch string     // an existing folder, for jobs
	Jobs    int        // at once
	JobEnv  []string   // NAME=value, beside or instead of what the job definition says
	JobLog  *os.File   // of all jobs; nil for none
	Log     *slog.Logger
	Made    *undo // gets what is made at the emulator
}

// home is the service as it is on AWS, on an emulator, with this process as its
// Batch.
type home struct {
	URL     string // of the API, without its stage
	Outputs map[string]string
	Batch   *fakebatch.Fake

	config       aws.Config
	log          *slog.Logger
	stack        string
	scratch      string
	batchAddress string
	servers      []*http.Server
}

// start deploys what was built and returns once it can be called.
func start(ctx context.Context, o options) (_ *home, err error) {
	endpoint, err := url.Parse(*o.Config.BaseEndpoint)
	if err != nil {
		return nil, err
	}
	a, err := readAssembly(o.Assembly)
	if err != nil {
		return nil, err
	}
	h := &home{config: o.Config, log: o.Log, stack: a.Stack, scratch: o.Scratch}
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
	h.batchAddress, h.URL = jobs.Addr().String(), "http://"+clients.Addr().String()
	attempts, err := a.Template.jobAttempts() // before the definition is dropped
	if err != nil {
		return nil, err
	}
	names, err := a.Template.adapt(places{Batch: "http://" + h.batchAddress, API: h.URL, Pages: *o.Config.BaseEndpoint})
	if err != nil {
		return nil, err
	}
	if h.Outputs, err = d.deploy(ctx, a); err != nil {
		return nil, err
	}
	h.Batch = h.newBatch(names, attempts, o)
	mux := http.NewServeMux()
	mux.HandleFunc(credentialsPath, h.serveCredentials)
	mux.Handle("/", h.Batch)
	h.serve(jobs, mux)
	h.serve(clients, edge(endpoint, h.Outputs[outputAPI], h.log))
	return h, nil
}

// listen opens a port for the emulator's functions, at an address by which they
// reach this machine, and one for clients.
func listen(host string) (jobs, clients net.Listener, err error) {
	if jobs, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
		return nil, nil, err
	}
	if clients, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		_ = jobs.Close()
	}
	return jobs, clients, err
}

func (h *home) serve(l net.Listener, handler http.Handler) {
	s := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	h.servers = append(h.servers, s)
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			h.log.Error("serve", "address", l.Addr(), "error", err)
		}
	}()
}

// close ends the jobs and lets nobody in any more. The stack stays.
func (h *home) close() {
	h.Batch.Close()
	for _, s := range h.servers {
		_ = s.Close() // what is open is cut off
	}
}

// service is the domain on the stack's table, for those who have its keys.
func (h *home) service() *lipsync.Service {
	return &lipsync.Service{
		Store: dynamodb.New(h.config, h.Outputs["TableName"]).Store,
		Now:   time.Now, NewID: uuid.NewString, Random: rand.Reader,
	}
}

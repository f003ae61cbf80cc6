// Package cloud wires the service as its programs on AWS use it: each says which
// parts it needs, and then has the settings of these, and no others, read. Parts whose
// clients not all programs need are packages of their own, since what a program links
// is part of its cold start.
package cloud

import (
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/uuid"

	"lipsync/internal/dynamodb"
	"lipsync/internal/emf"
	"lipsync/internal/gateway"
	"lipsync/internal/lipsync"
	"lipsync/internal/rest"
	"lipsync/internal/settings"
	"lipsync/internal/version"
)

// Deployment is the service on AWS as one program sees it. Its clients of AWS are made once, with it.
type Deployment struct {
	Service  *lipsync.Service
	Settings *settings.Values
	Metrics  *emf.Metrics
	Log      *slog.Logger
	Config   aws.Config      // of clients
	Table    *dynamodb.Store // nil without Records

	origins []string
}

// Part is something that a program needs.
type Part func(*Deployment)

// New returns a deployment with the parts, whose clients of AWS have the configuration. Its
// settings come from getenv, and its log and metrics go to w, as lines of JSON.
func New(config aws.Config, getenv func(string) string, w io.Writer, parts ...Part) (*Deployment, error) {
	c := &clock{machine: time.Now}
	config.APIOptions = append(slices.Clone(config.APIOptions), c.listen)
	d := &Deployment{
		Metrics:  emf.New(w, c.Now),
		Log:      slog.New(slog.NewJSONHandler(w, nil)),
		Config:   config,
		Settings: settings.Environment(getenv),
	}
	d.Log.Info("start", "version", version.String())
	d.Service = &lipsync.Service{Now: c.Now, NewID: uuid.NewString, Random: rand.Reader, Watcher: d.Metrics, Log: d.Log}
	for _, add := range parts {
		add(d)
	}
	return d, d.Settings.Err()
}

// Records is the store.
func Records(d *Deployment) {
	d.Table = dynamodb.New(d.Config, settings.Table.In(d.Settings))
	d.Service.Store = d.Table.Store
}

// Demand counts the waiting requests and the work of runners. The deployment must have Records.
func Demand(d *Deployment) { d.Service.Demand = d.Table }

// Generating is the rate of generate calls, and the engines that they may name.
func Generating(d *Deployment) {
	d.Service.GenerateRate = settings.GenerateRate.In(d.Settings)
	Engines(d)
}

// Engines are those that requests may name, the default first.
func Engines(d *Deployment) {
	d.Service.Engines = settings.Engines.In(d.Settings)
}

// Reading is the rate of other calls.
func Reading(d *Deployment) { d.Service.ReadRate = settings.ReadRate.In(d.Settings) }

// Sizes are the limits on the size of media.
func Sizes(d *Deployment) {
	d.Service.MaxVideo, d.Service.MaxAudio = int64(settings.MaxVideo.In(d.Settings)), int64(settings.MaxAudio.In(d.Settings))
}

// Limits bound what an account may have.
func Limits(d *Deployment) {
	l := &d.Service.Limits
	l.Open, l.Stored = settings.MaxOpenRequests.In(d.Settings), int64(settings.MaxStored.In(d.Settings))
	l.Keys = settings.MaxKeys.In(d.Settings)
}

// Retention is how long media are kept.
func Retention(d *Deployment) {
	d.Service.Limits.Keep = lipsync.Retention{
		Inputs: settings.KeepInputs.In(d.Settings), Outputs: settings.KeepOutputs.In(d.Settings),
	}
}

// Origins are the web sites whose pages may call the API.
func Origins(d *Deployment) { d.origins = settings.CORSOrigins.In(d.Settings) }

// API is the HTTP API, to be put behind API Gateway. The deployment must have Origins.
func (d *Deployment) API() http.Handler {
	return rest.AllowOrigins(d.origins, rest.New(d.Service, rest.Options{Log: d.Log, MaxForm: gateway.MaxForm}))
}

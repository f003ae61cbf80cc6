// Package cloud wires the service for its programs on AWS. Each program names the parts that it
// needs, and reads only the settings of these. A part with a client of AWS that not all programs
// need is a package of its own, because linking more code slows down the cold start of a function.
package cloud

import (
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/aws/emf"
	"lipsync/internal/aws/gateway"
	"lipsync/internal/domain/base"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/operator"
	"lipsync/internal/domain/service"
	"lipsync/internal/domain/settings"
	"lipsync/internal/domain/version"
	"lipsync/internal/http/cors"
	"lipsync/internal/http/rest"
	"lipsync/internal/store/dynamodb"
)

// Deployment is the service on AWS with the parts that one program needs. Each part makes its
// clients of AWS once.
type Deployment struct {
	Service  *service.Service // made of what the parts added to the fields below
	Wanted   operator.Settings
	Own      base.Config // what isn't in Wanted
	Ports    base.Ports
	Settings *settings.Values
	Metrics  *emf.Metrics
	Log      *slog.Logger
	Config   aws.Config      // of clients
	Table    *dynamodb.Store // nil without Records

	MediaRole, Bucket string // "" without Leases

	origins []string
}

// Part adds something that a program needs to a deployment.
type Part func(*Deployment)

// New returns a deployment with the parts. Their clients of AWS have the configuration. The
// settings come from getenv, and the log and the metrics go to w, as lines of JSON.
func New(config aws.Config, getenv func(string) string, w io.Writer, parts ...Part) (*Deployment, error) {
	c := &clock{machine: time.Now}
	config.APIOptions = append(slices.Clone(config.APIOptions), c.listen)
	d := &Deployment{
		Log:      slog.New(slog.NewJSONHandler(w, nil)),
		Config:   config,
		Settings: settings.Environment(getenv),
		Own:      base.Config{Pooled: true},
	}
	d.Metrics = emf.New(w, c.now, settings.Name.In(d.Settings))
	d.Log.Info("start", "version", version.String())
	d.Ports.Now, d.Ports.Watcher, d.Ports.Log = c.now, d.Metrics, d.Log
	for _, add := range parts {
		add(d)
	}
	if err := d.Settings.Err(); err != nil {
		return nil, err
	}
	var err error
	d.Service, err = service.New(d.Wanted.Config(d.Own), d.Ports)
	return d, err
}

// Records adds the store.
func Records(d *Deployment) {
	d.Table = dynamodb.New(d.Config, settings.Table.In(d.Settings))
	d.Ports.Store = d.Table.Store
}

// Broker adds what a program needs that claims requests for runners, and gives them sessions for media. It allows twice as many leases as workers can
// hold, since for a minute there are also those of runners that died. The deployment must have Records.
func Broker(d *Deployment) {
	d.MediaRole, d.Bucket = settings.MediaRole.In(d.Settings), settings.Bucket.In(d.Settings)
	Pools(d)
	d.Table.Queue.MostHeld = 2 * lipsync.MostHeld(d.Own.Workers, d.Own.SmallWorkers, d.Own.NeuralWorkers)
}

// Demand adds the counts of waiting requests and of the runners' work. The deployment must have
// Records.
func Demand(d *Deployment) { d.Ports.Demand = d.Table.Queue }

// Generating adds the rate of generate calls, the engines that these may name, and Provenance.
func Generating(d *Deployment) {
	d.Wanted.GenerateRate = settings.GenerateRate.In(d.Settings)
	Engines(d)
	Provenance(d)
}

// Provenance adds whether all outputs must be signed.
func Provenance(d *Deployment) {
	d.Wanted.RequireProvenance = settings.RequireProvenance.In(d.Settings)
}

// Engines adds the names of the engines that requests may name, the default first.
func Engines(d *Deployment) { d.Own.Engines = settings.Engines.In(d.Settings) }

// Reading adds the rate of other calls.
func Reading(d *Deployment) { d.Wanted.ReadRate = settings.ReadRate.In(d.Settings) }

// Sizes adds the limits on the sizes of media.
func Sizes(d *Deployment) {
	d.Wanted.MaxVideo, d.Wanted.MaxAudio = settings.MaxVideo.In(d.Settings), settings.MaxAudio.In(d.Settings)
}

// Limits adds the limits on an account's open requests, stored bytes and keys.
func Limits(d *Deployment) {
	d.Wanted.MaxOpenRequests, d.Wanted.MaxStored = settings.MaxOpenRequests.In(d.Settings), settings.MaxStored.In(d.Settings)
	d.Wanted.MaxKeys = settings.MaxKeys.In(d.Settings)
}

// Pools adds the largest numbers of the workers of each pool.
func Pools(d *Deployment) {
	d.Own.Workers, d.Own.SmallWorkers = settings.MaxWorkers.In(d.Settings), settings.SmallWorkers.In(d.Settings)
	d.Own.NeuralWorkers = settings.MaxNeuralWorkers.In(d.Settings)
}

// Workers adds what places in the queue need: Pools, and surveys that are used for two seconds. The
// deployment must have Records.
func Workers(d *Deployment) {
	Pools(d)
	d.Table.Queue.SurveyLife = 2 * time.Second
}

// Retention adds the times for which media and records are kept.
func Retention(d *Deployment) {
	d.Wanted.KeepInputs, d.Wanted.KeepOutputs = settings.KeepInputs.In(d.Settings), settings.KeepOutputs.In(d.Settings)
	d.Wanted.KeepRecords = settings.KeepRecords.In(d.Settings)
}

// Origins adds the origins of the web sites whose pages may call the API.
func Origins(d *Deployment) { d.origins = settings.CORSOrigins.In(d.Settings) }

// API returns the HTTP API, for use behind API Gateway. The deployment must have Origins.
func (d *Deployment) API() http.Handler {
	return cors.Allow(d.origins, rest.New(d.Service, rest.Options{Log: d.Log, MaxForm: gateway.MaxForm}))
}

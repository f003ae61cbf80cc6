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

// Home is the service in one program. Clients of AWS are made once, with it.
type Home struct {
	Service  *lipsync.Service
	Settings *settings.Values
	Metrics  *emf.Metrics
	Log      *slog.Logger
	Config   aws.Config      // of clients
	Table    *dynamodb.Store // nil without Records

	origins []string
}

// Part is something that a program needs.
type Part func(*Home)

// New returns a home with the parts, whose clients of AWS have the configuration. Its
// settings come from getenv, and its log and metrics go to w, as lines of JSON.
func New(config aws.Config, getenv func(string) string, w io.Writer, parts ...Part) (*Home, error) {
	c := &clock{machine: time.Now}
	config.APIOptions = append(slices.Clone(config.APIOptions), c.listen)
	h := &Home{
		Metrics:  emf.New(w, c.Now),
		Log:      slog.New(slog.NewJSONHandler(w, nil)),
		Config:   config,
		Settings: settings.Environment(getenv),
	}
	h.Log.Info("start", "version", version.String())
	h.Service = &lipsync.Service{Now: c.Now, NewID: uuid.NewString, Random: rand.Reader, Watcher: h.Metrics, Log: h.Log}
	for _, add := range parts {
		add(h)
	}
	return h, h.Settings.Err()
}

// Records is the store.
func Records(h *Home) {
	h.Table = dynamodb.New(h.Config, settings.Table.In(h.Settings))
	h.Service.Store = h.Table.Store
}

// Demand is what is known of the work of runners. The home has to have Records.
func Demand(h *Home) { h.Service.Demand = h.Table }

// Generating is the rate of generate calls, and the engines that they may name.
func Generating(h *Home) {
	h.Service.GenerateRate = settings.GenerateRate.In(h.Settings)
	Engines(h)
}

// Engines are those that requests may name, the default first.
func Engines(h *Home) {
	h.Service.Engines = settings.Engines.In(h.Settings)
}

// Reading is the rate of other calls.
func Reading(h *Home) { h.Service.ReadRate = settings.ReadRate.In(h.Settings) }

// Sizes are the limits on the size of media.
func Sizes(h *Home) {
	h.Service.MaxVideo, h.Service.MaxAudio = int64(settings.MaxVideo.In(h.Settings)), int64(settings.MaxAudio.In(h.Settings))
}

// Limits are what an account may have.
func Limits(h *Home) {
	l := &h.Service.Limits
	l.Open, l.Stored = settings.MaxOpenRequests.In(h.Settings), int64(settings.MaxStored.In(h.Settings))
	l.Keys = settings.MaxKeys.In(h.Settings)
}

// Retention is how long media are kept.
func Retention(h *Home) {
	h.Service.Limits.Keep = lipsync.Retention{
		Inputs: settings.KeepInputs.In(h.Settings), Outputs: settings.KeepOutputs.In(h.Settings),
	}
}

// Origins are the web sites whose pages may call the API.
func Origins(h *Home) { h.origins = settings.CORSOrigins.In(h.Settings) }

// API is the HTTP API, to be put behind API Gateway. The home has to have Origins.
func (h *Home) API() http.Handler {
	return rest.AllowOrigins(h.origins, rest.New(h.Service, rest.Options{Log: h.Log, MaxForm: gateway.MaxForm}))
}

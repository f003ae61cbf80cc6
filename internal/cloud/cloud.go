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
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/uuid"

	"lipsync/internal/dynamodb"
	"lipsync/internal/emf"
	"lipsync/internal/gateway"
	"lipsync/internal/lipsync"
	"lipsync/internal/rest"
	"lipsync/internal/version"
)

// Home is the service in one program. Clients of AWS are made once, with it.
type Home struct {
	Service  *lipsync.Service
	Settings *Settings
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
		Settings: &Settings{get: getenv},
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
	h.Table = dynamodb.New(h.Config, h.Settings.Text("LIPSYNC_TABLE"))
	h.Service.Store = h.Table.Store
}

// Demand is what is known of the work of runners. The home has to have Records.
func Demand(h *Home) { h.Service.Demand = h.Table }

// Generating is the rate of generate calls, and the engines that they may name.
func Generating(h *Home) {
	h.Service.GenerateRate = h.Settings.Number("LIPSYNC_GENERATE_RATE")
	Engines(h)
}

// Engines are those that requests may name, the default first.
func Engines(h *Home) {
	h.Service.Engines = strings.Split(h.Settings.Text("LIPSYNC_ENGINES"), ",")
}

// Reading is the rate of other calls.
func Reading(h *Home) { h.Service.ReadRate = h.Settings.Number("LIPSYNC_READ_RATE") }

// Sizes are the limits on the size of media.
func Sizes(h *Home) {
	h.Service.MaxVideo, h.Service.MaxAudio = h.Settings.Bytes("LIPSYNC_MAX_VIDEO"), h.Settings.Bytes("LIPSYNC_MAX_AUDIO")
}

// Limits are what an account may have.
func Limits(h *Home) {
	l := &h.Service.Limits
	l.Open, l.Stored = h.Settings.Number("LIPSYNC_MAX_OPEN_REQUESTS"), h.Settings.Bytes("LIPSYNC_MAX_STORED")
	l.Keys = h.Settings.Number("LIPSYNC_MAX_KEYS")
}

// Retention is how long media are kept.
func Retention(h *Home) {
	h.Service.Limits.Keep = lipsync.Retention{
		Inputs: h.Settings.Duration("LIPSYNC_KEEP_INPUTS"), Outputs: h.Settings.Duration("LIPSYNC_KEEP_OUTPUTS"),
	}
}

// Origins are the web sites whose pages may call the API.
func Origins(h *Home) { h.origins = strings.Split(h.Settings.Text("LIPSYNC_CORS_ORIGINS"), ",") }

// API is the HTTP API, to be put behind API Gateway. The home has to have Origins.
func (h *Home) API() http.Handler {
	return rest.AllowOrigins(h.origins, rest.New(h.Service, rest.Options{Log: h.Log, MaxForm: gateway.MaxForm}))
}

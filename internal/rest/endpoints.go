package rest

import (
	"net/http"

	"lipsync/internal/lipsync"
)

//go:generate go run ../../infra/functions ../../functions

// Base is the prefix of every path of the API.
const Base = "/api"

// Paths that other code names besides the table.
const (
	DocumentPath          = "/openapi.yaml"
	GenerateWithMediaPath = "/v1/lipsync/generate-with-media"
	RequestsPath          = "/v1/lipsync/requests" // a request has the path RequestsPath + "/" + its id
	UploadsPath           = "/v1/uploads"
)

// Endpoint is one row of the table of endpoints. It defines the route. On AWS it also defines the function's program, rights
// and variables.
type Endpoint struct {
	Method, Path string           // the path is below Base
	Calls        lipsync.CallKind // the kind of call that a key's rate counts; "" for an endpoint without a key
	Function     string           // on Lambda; endpoints without a key may share one
	Memory       int              // of the function, in MiB; its share of a processor grows with it
	Needs        []Need           // beside those of checking a key

	handler handler
}

// Endpoints returns the table of endpoints. If several endpoints have the same path, on AWS the function of the first one also
// refuses calls with other methods. To add an endpoint, add a row with its handler, describe it in openapi.yaml, and run go
// generate, which writes the program of its function. CONTRIBUTING.md has all steps.
func Endpoints() []Endpoint {
	const (
		get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
		open           = ""
		read, generate = lipsync.ReadCall, lipsync.GenerateCall
	)
	type needs = []Need
	return []Endpoint{
		{get, "/health", open, "health", 256, nil, health},
		{get, DocumentPath, open, "health", 256, nil, document},
		{get, "/openapi.json", open, "health", 256, nil, documentJSON},
		{get, "/v1/users/me", read, "me", 512, nil, answers((*api).me)},
		{get, "/v1/models", read, "list-models", 512, needs{ListEngines}, answers((*api).listModels)},
		{post, "/v1/lipsync/generate", generate, "generate", 512, needs{CreateRequests, ReadUploads}, answers(decoded((*api).generate))},
		{post, GenerateWithMediaPath, generate, "generate-with-media", 1024, needs{CreateRequests, StoreInputs}, answers((*api).generateWithMedia)},
		{get, RequestsPath, read, "list-requests", 512, needs{ListRequests, SignURLs}, answers((*api).listRequests)},
		{get, RequestsPath + "/{id}", read, "get-request", 512, needs{ReadRequests, SignURLs}, answers((*api).getRequest)},
		{del, RequestsPath + "/{id}", read, "cancel-request", 512, needs{CancelRequests}, answers((*api).cancelRequest)},
		{get, RequestsPath + "/{id}/progress", read, "get-progress", 512, needs{ReadRequests}, answers((*api).getProgress)},
		{get, RequestsPath + "/{id}/details", read, "get-details", 512, needs{ReadRequests, KnowRetention}, answers((*api).getDetails)},
		{del, RequestsPath + "/{id}/media", read, "delete-media", 512, needs{DeleteMedia}, answers((*api).deleteMedia)},
		{post, UploadsPath, read, "create-upload", 512, needs{CreateUploads, SignURLs}, answers(decoded((*api).createUpload))},
	}
}

// Need is something that an endpoint does by the service. On AWS it stands for the parts of the function's program, which
// infra/functions has, and for its variables and rights, which infra/stack has.
type Need string

const (
	ListEngines    Need = "list engines"
	ListRequests   Need = "list requests" // and count the open ones
	ReadRequests   Need = "read requests"
	CreateRequests Need = "create requests"
	CancelRequests Need = "cancel requests"
	ReadUploads    Need = "read uploads"
	CreateUploads  Need = "create uploads"
	StoreInputs    Need = "store inputs"
	DeleteMedia    Need = "delete media"
	SignURLs       Need = "sign URLs"      // of outputs and uploads
	KnowRetention  Need = "know retention" // how long media are kept
)

package rest

import (
	"net/http"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
)

//go:generate go run ../../../infra/functions ../../..

// Base is the prefix of every path of the API.
const Base = "/api"

// These are paths of endpoints.
const (
	DocumentPath          = "/openapi.yaml"
	HealthPath            = "/health"
	LLMsPath              = "/llms.txt"
	guidePath             = "/guide.md"
	MePath                = "/v1/users/me"
	GeneratePath          = "/v1/lipsync/generate"
	GenerateWithMediaPath = "/v1/lipsync/generate-with-media"
	RequestsPath          = "/v1/lipsync/requests" // a request has the path RequestsPath + "/" + its id
	ProgressPath          = "/progress"            // below the path of a request
	DetailsPath           = "/details"             // below the path of a request
	RecordPath            = "/record"              // below the path of a request
	RecordsPath           = "/v1/lipsync/records"
	AnalyzePath           = "/v1/lipsync/analyze"
	AnalysesPath          = "/v1/lipsync/analyses" // an analysis has the path AnalysesPath + "/" + its id
	EstimatePath          = "/v1/lipsync/estimate"
	EstimatesPath         = "/v1/lipsync/estimates"
	BatchesPath           = "/v1/lipsync/batches" // a batch has the path BatchesPath + "/" + its id
	UploadsPath           = "/v1/uploads"
	webhooksPath          = "/v1/webhooks" // a webhook has the path webhooksPath + "/" + its id
)

// Endpoint is one row of the table of endpoints. It defines the route. On AWS it also defines the
// function: infra/stack derives its program, variables, rights and memory from the row.
type Endpoint struct {
	Method, Path string           // the path is below Base
	Calls        lipsync.CallKind // the kind of call that a key's rate counts; "" for an endpoint without a key
	Function     string           // name of the function on AWS; endpoints without a key share one, and endpoints with the same needs may
	Needs        []Need           // in addition to those of checking a key

	handler handler
}

// Endpoints returns the table of endpoints. If several endpoints have the same path, on AWS the
// function of the first one also refuses calls with other methods. To add an endpoint, add a row
// with its handler, describe it in openapi.yaml, and run go generate, which writes the program of
// its function. CONTRIBUTING.md has all steps.
func Endpoints() []Endpoint {
	const (
		get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
		open           = ""
		read, generate = lipsync.ReadCall, lipsync.GenerateCall
	)
	type needs = []Need
	return []Endpoint{
		{get, HealthPath, open, "health", nil, health},
		{get, DocumentPath, open, "health", nil, document},
		{get, "/openapi.json", open, "health", nil, documentJSON},
		{get, LLMsPath, open, "health", nil, llms},
		{get, guidePath, open, "health", nil, guide},
		{get, MePath, read, "me", nil, answers((*api).me)},
		{get, "/v1/models", read, "list-models", needs{ListEngines}, answers((*api).listModels)},
		{post, GeneratePath, generate, "generate", needs{CreateRequests, ReadUploads}, answers(decoded((*api).generate))},
		{post, GenerateWithMediaPath, generate, "generate-with-media", needs{CreateRequests, StoreInputs}, answers((*api).generateWithMedia)},
		{get, RequestsPath, read, "list-requests", needs{ListRequests, SignURLs}, answers((*api).listRequests)},
		{get, RequestsPath + "/{id}", read, "get-request", needs{ReadRequests, SignURLs}, answers((*api).getRequest)},
		{del, RequestsPath + "/{id}", read, "cancel-request", needs{CancelRequests}, answers(byID((*service.Service).Cancel, (*api).viewEnded))},
		{get, RequestsPath + "/{id}" + ProgressPath, read, "get-progress", needs{ReadRequests, KnowQueue}, answers((*api).getProgress)},
		{get, RequestsPath + "/{id}" + DetailsPath, read, "get-details", needs{ReadRequests, KnowRetention}, answers((*api).getDetails)},
		{del, RequestsPath + "/{id}/media", read, "delete-media", needs{DeleteMedia}, answers(byID((*service.Service).DeleteMedia, (*api).viewEnded))},
		{del, RequestsPath + "/{id}" + RecordPath, read, "delete-media", needs{DeleteMedia}, answers((*api).eraseRequest)},
		{del, RecordsPath, read, "delete-media", needs{DeleteMedia}, answers((*api).eraseAccount)},
		{post, AnalyzePath, generate, "analyze", needs{CreateRequests, ReadUploads}, answers(decoded((*api).analyze))},
		{get, AnalysesPath + "/{id}", read, "get-analysis", needs{ReadOutputs}, answers((*api).getAnalysis)},
		{del, AnalysesPath + "/{id}", read, "delete-analysis", needs{CancelRequests, DeleteMedia}, answers(byID((*service.Service).DeleteAnalysis, (*api).viewDeleted))},
		{post, EstimatePath, generate, "estimate", needs{CreateRequests, ReadUploads}, answers(decoded((*api).estimate))},
		{get, EstimatesPath + "/{id}", read, "get-estimate", needs{ReadOutputs, KnowQueue}, answers((*api).getEstimate)},
		{post, BatchesPath, generate, "create-batch", needs{CreateRequests, ReadUploads, MakeBatches}, answers((*api).createBatch)},
		{get, BatchesPath, read, "read-batches", needs{ListRequests}, answers((*api).listBatches)},
		{get, BatchesPath + "/{id}", read, "read-batches", needs{ListRequests}, answers((*api).getBatch)},
		{del, BatchesPath + "/{id}", read, "cancel-batch", needs{CancelRequests, CloseBatches}, answers((*api).cancelBatch)},
		{post, UploadsPath, read, "create-upload", needs{CreateUploads, SignURLs}, answers(decoded((*api).createUpload))},
		{post, webhooksPath, read, "webhooks", needs{UseWebhooks}, answers(decoded((*api).createWebhook))},
		{get, webhooksPath, read, "webhooks", needs{UseWebhooks}, answers((*api).listWebhooks)},
		{get, webhooksPath + "/{id}", read, "webhooks", needs{UseWebhooks}, answers((*api).getWebhook)},
		{del, webhooksPath + "/{id}", read, "webhooks", needs{UseWebhooks}, answers(byID((*service.Service).DeleteWebhook, (*api).viewWebhook))},
		{post, webhooksPath + "/{id}/rotate", read, "webhooks", needs{UseWebhooks}, answers(byID((*service.Service).RotateWebhook, (*api).withSecret))},
		{post, webhooksPath + "/{id}/enable", read, "webhooks", needs{UseWebhooks}, answers(byID((*service.Service).EnableWebhook, (*api).viewWebhook))},
		{post, webhooksPath + "/{id}/test", read, "webhooks", needs{UseWebhooks}, answers(byID((*service.Service).TestWebhook, (*api).viewDelivery))},
		{post, webhooksPath + "/{id}/redeliver", read, "webhooks", needs{UseWebhooks}, answers((*api).redeliverAll)},
		{get, webhooksPath + "/{id}/deliveries", read, "webhooks", needs{UseWebhooks}, answers((*api).listDeliveries)},
		{post, webhooksPath + "/{id}/deliveries/{delivery}/redeliver", read, "webhooks", needs{UseWebhooks}, answers((*api).redeliver)},
	}
}

// Need is something that an endpoint does with the service. infra/stack/needs.go has a row for each
// need, with the parts of a program and the rights that it takes on AWS.
type Need string

const (
	ListEngines    Need = "list engines"  // and how fast they are
	ListRequests   Need = "list requests" // and count the open ones
	ReadRequests   Need = "read requests"
	CreateRequests Need = "create requests"
	CancelRequests Need = "cancel requests"
	ReadOutputs    Need = "read outputs" // of analyses and estimates
	KnowQueue      Need = "know the queue"
	ReadUploads    Need = "read uploads"
	CreateUploads  Need = "create uploads"
	StoreInputs    Need = "store inputs"
	DeleteMedia    Need = "delete media"
	SignURLs       Need = "sign URLs"      // of outputs and uploads
	KnowRetention  Need = "know retention" // the times for which media are kept
	MakeBatches    Need = "make batches"   // from requests: see CreateRequests
	CloseBatches   Need = "close batches"  // by canceling requests: see CancelRequests
	UseWebhooks    Need = "use webhooks"
)

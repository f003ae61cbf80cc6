package stack

import (
	"strconv"
	"strings"
	"time"

	"github.com/aws/jsii-runtime-go"
)

// Variables that the functions and the runner read: see internal/cloud.
const (
	table         = "LIPSYNC_TABLE"
	bucket        = "LIPSYNC_BUCKET"
	queueURL      = "LIPSYNC_QUEUE_URL"
	signerRole    = "LIPSYNC_SIGNER_ROLE"
	signerPool    = "LIPSYNC_SIGNER_POOL"
	generateRate  = "LIPSYNC_GENERATE_RATE"
	readRate      = "LIPSYNC_READ_RATE"
	engines       = "LIPSYNC_ENGINES"
	maxOpen       = "LIPSYNC_MAX_OPEN_REQUESTS"
	maxStored     = "LIPSYNC_MAX_STORED"
	maxKeys       = "LIPSYNC_MAX_KEYS"
	keepInputs    = "LIPSYNC_KEEP_INPUTS"
	keepOutputs   = "LIPSYNC_KEEP_OUTPUTS"
	maxVideo      = "LIPSYNC_MAX_VIDEO"
	maxAudio      = "LIPSYNC_MAX_AUDIO"
	maxDuration   = "LIPSYNC_MAX_DURATION"
	maxSide       = "LIPSYNC_MAX_SIDE"
	maxFPS        = "LIPSYNC_MAX_FPS"
	corsOrigins   = "LIPSYNC_CORS_ORIGINS"
	jobQueue      = "LIPSYNC_JOB_QUEUE"
	jobDefinition = "LIPSYNC_JOB_DEFINITION"
	maxWorkers    = "LIPSYNC_MAX_WORKERS"
	jobTimeout    = "LIPSYNC_JOB_TIMEOUT"
	scratchFolder = "LIPSYNC_SCRATCH"
	modelsFolder  = "LIPSYNC_MODELS"
	nvidia        = "LIPSYNC_NVIDIA"
	providers     = "LIPSYNC_PROVIDERS"
	issuer        = "LIPSYNC_ISSUER"
	clientID      = "LIPSYNC_CLIENT_ID"
	signOutURL    = "LIPSYNC_SIGN_OUT_URL"
	secretARN     = "LIPSYNC_SECRET_ARN"
	publicURL     = "LIPSYNC_PUBLIC_URL"
	processors    = "GOMAXPROCS" // read by Go itself, too
)

// values returns variables with their values.
func (s *service) values(names ...string) *map[string]*string {
	values := map[string]*string{}
	for _, name := range names {
		values[name] = s.value(name)
	}
	return &values
}

func (s *service) value(name string) *string {
	number := func(n int) *string { return jsii.String(strconv.Itoa(n)) }
	duration := func(d time.Duration) *string { return jsii.String(d.String()) }
	switch name {
	case table:
		return s.table.TableName()
	case bucket:
		return s.bucket.BucketName()
	case queueURL:
		return s.queue.QueueUrl()
	case generateRate:
		return number(s.GenerateRate)
	case readRate:
		return number(s.ReadRate)
	case engines:
		return jsii.String(strings.Join(s.Engines, ","))
	case maxOpen:
		return number(s.MaxOpenRequests)
	case maxStored:
		return number(s.MaxStoredGiB << 30)
	case maxKeys:
		return number(s.MaxKeys)
	case keepInputs:
		return duration(s.KeepInputs)
	case keepOutputs:
		return duration(s.KeepOutputs)
	case maxVideo:
		return number(s.MaxVideoMiB << 20)
	case maxAudio:
		return number(s.MaxAudioMiB << 20)
	case maxDuration:
		return duration(s.MaxDuration)
	case maxSide:
		return number(s.MaxSide)
	case maxFPS:
		return number(s.MaxFPS)
	case corsOrigins:
		return jsii.String(strings.Join(s.CORSOrigins, ","))
	case jobQueue:
		return s.jobQueue.JobQueueArn()
	case jobDefinition:
		return s.jobDefinition.JobDefinitionArn()
	case maxWorkers:
		return number(s.SpotVCPUs/JobVCPUs + s.OnDemandVCPUs/JobVCPUs)
	case jobTimeout:
		return duration(s.JobTimeout)
	case issuer:
		return jsii.String("https://" + *s.users.UserPoolProviderName())
	case clientID:
		return s.client.UserPoolClientId()
	case signOutURL:
		return jsii.String(*s.domain.BaseUrl(nil) + "/logout")
	case secretARN:
		return s.secret.SecretArn()
	case publicURL:
		return jsii.String(s.host())
	case processors:
		return number(JobVCPUs)
	case scratchFolder:
		return jsii.String(scratch)
	case modelsFolder:
		return jsii.String(models)
	case nvidia:
		return jsii.String(strconv.FormatBool(s.NVIDIAVideo))
	case providers: // asked for, so that a runner whose GPU is missing says so
		return jsii.String(map[string]string{"cuda": "cuda,cpu", "cpu": "cpu"}[s.Image])
	default:
		panic("no value for " + name)
	}
}

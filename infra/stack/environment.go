package stack

import (
	"maps"
	"strconv"
	"strings"

	"github.com/aws/jsii-runtime-go"
)

// environment has every variable that a function may want.
func (s *service) environment() map[string]*string {
	env := map[string]*string{
		"LIPSYNC_TABLE":          s.table.TableName(),
		"LIPSYNC_BUCKET":         s.bucket.BucketName(),
		"LIPSYNC_QUEUE_URL":      s.queue.QueueUrl(),
		"LIPSYNC_SIGNER_ROLE":    s.signer.RoleArn(),
		"LIPSYNC_GENERATE_RATE":  jsii.String(strconv.Itoa(s.GenerateRate)),
		"LIPSYNC_READ_RATE":      jsii.String(strconv.Itoa(s.ReadRate)),
		"LIPSYNC_JOB_QUEUE":      s.jobQueue.JobQueueArn(),
		"LIPSYNC_JOB_DEFINITION": s.jobDefinition.JobDefinitionArn(),
	}
	maps.Copy(env, s.sizeLimits())
	return env
}

// id is the function's name as CloudFormation writes names: GetRequest.
func (l lambda) id() string {
	var id strings.Builder
	for word := range strings.SplitSeq(l.name, "-") {
		id.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return id.String()
}

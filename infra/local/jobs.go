package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"lipsync/internal/domain/settings"
	"lipsync/internal/test/awstest/fakebatch"
)

// jobGrace is the time in which a job of the stack must end after SIGTERM.
const jobGrace = 30 * time.Second

// credentialsPath is the path under which jobs get the credentials of their role, as containers get
// them from their agent.
const credentialsPath = "/local/credentials"

// jobEnvironment returns what the environments of all jobs' processes have besides their definitions': the addresses of the
// services, the credentials, and this machine's folders.
func (d *deployment) jobEnvironment() []string {
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"AWS_REGION=" + d.config.Region,
		"AWS_ENDPOINT_URL=" + *d.config.BaseEndpoint,
		"AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://" + d.batchAddress + credentialsPath,
		settings.Scratch.Env() + "=" + d.scratch,
		settings.Models.Env() + "=" + d.scratch,
	}
}

// newBatch returns the fake of Batch for the stack, whose job definitions have variables with the names. Its jobs are processes of the runner.
func (d *deployment) newBatch(names map[string][]string, attempts int, o options) *fakebatch.Fake {
	definitions := map[string][]string{}
	for definition, names := range names {
		for i, name := range names {
			definitions[definition] = append(definitions[definition], name+"="+d.Outputs[fmt.Sprint(outputJobValue, definition, i)])
		}
	}
	return fakebatch.New(fakebatch.Options{
		Command:  []string{o.Runner},
		Env:      append(d.jobEnvironment(), o.JobEnv...),
		Limit:    o.Jobs,
		Attempts: attempts,
		Grace:    jobGrace,
		Log:      o.JobLog,

		Definitions: definitions,
	})
}

// serveCredentials gives jobs credentials of their role.
func (d *deployment) serveCredentials(w http.ResponseWriter, r *http.Request) {
	session, err := sts.NewFromConfig(d.config).AssumeRole(r.Context(), &sts.AssumeRoleInput{
		RoleArn: aws.String(d.Outputs[outputJobRole]), RoleSessionName: aws.String("job"),
	})
	if err != nil {
		d.log.Error("credentials for a job", "error", err)
		http.Error(w, "no credentials", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // fails only if the job is gone
		"AccessKeyId": session.Credentials.AccessKeyId, "SecretAccessKey": session.Credentials.SecretAccessKey,
		"Token": session.Credentials.SessionToken, "Expiration": session.Credentials.Expiration,
	})
}

// Code generated from the tables in internal/http/rest/endpoints.go and infra/stack/needs.go by go generate; DO NOT EDIT.

package main

import (
	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/cloud/media"
	"lipsync/internal/aws/cloud/messages"
)

// parts are the parts of the service that the program needs.
var parts = []cloud.Part{cloud.Records, media.Kept, cloud.Demand, messages.Queue, messages.Deliveries, cloud.Broker}

package fakebatch

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/batch/types"
)

// ServeHTTP serves the supported calls of the API.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.throttle() {
		refuse(w, http.StatusTooManyRequests, "TooManyRequestsException", "Too Many Requests")
		return
	}
	f.calls.ServeHTTP(w, r)
}

func (f *Fake) throttle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.faults.Throttled == 0 {
		return false
	}
	f.faults.Throttled--
	return true
}

func (f *Fake) submitJob(w http.ResponseWriter, r *http.Request) {
	var in struct {
		JobName, JobQueue, JobDefinition string
		ArrayProperties                  *struct{ Size int }
	}
	if !decode(w, r, &in) {
		return
	}
	if in.JobName == "" || in.JobQueue == "" || in.JobDefinition == "" {
		refuse(w, http.StatusBadRequest, "ClientException", "jobName, jobQueue and jobDefinition are required")
		return
	}
	size := 0
	if a := in.ArrayProperties; a != nil {
		if size = a.Size; size < 2 || size > 10_000 {
			refuse(w, http.StatusBadRequest, "ClientException", "the size of an array is from 2 to 10000")
			return
		}
	}
	id, err := f.submit(job{name: in.JobName, queue: in.JobQueue, definition: in.JobDefinition}, size)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "ServerException", err.Error())
		return
	}
	answer(w, map[string]string{"jobArn": arnPrefix + "job/" + id, "jobId": id, "jobName": in.JobName})
}

// listJobs lists jobs and arrays by status, newest first.
func (f *Fake) listJobs(w http.ResponseWriter, r *http.Request) {
	var in struct {
		JobQueue, NextToken string
		JobStatus           types.JobStatus
		MaxResults          int
	}
	if !decode(w, r, &in) {
		return
	}
	status := cmp.Or(in.JobStatus, types.JobStatusRunning)
	f.mu.Lock()
	defer f.mu.Unlock()
	found := []summary{}
	for _, s := range slices.Backward(f.summaries(in.JobQueue)) {
		if s.Status == status {
			found = append(found, s)
		}
	}
	answerPage(w, found, in.NextToken, cmp.Or(in.MaxResults, 1000))
}

// answerPage answers with a page of a list. The token says where the page begins.
func answerPage(w http.ResponseWriter, all []summary, token string, limit int) {
	start, err := strconv.Atoi(cmp.Or(token, "0"))
	if err != nil || start < 0 || start > len(all) {
		refuse(w, http.StatusBadRequest, "ClientException", "the nextToken is not valid")
		return
	}
	out := map[string]any{"jobSummaryList": all[start:]}
	if end := start + limit; end < len(all) {
		out = map[string]any{"jobSummaryList": all[start:end], "nextToken": strconv.Itoa(end)}
	}
	answer(w, out)
}

func (f *Fake) describeJobs(w http.ResponseWriter, r *http.Request) {
	var in struct{ Jobs []string }
	if !decode(w, r, &in) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	found := []detail{}
	for _, id := range in.Jobs {
		if j := f.find(id); j != nil {
			found = append(found, j.detail(f.options))
		}
	}
	answer(w, map[string]any{"jobs": found})
}

func (f *Fake) terminateJob(w http.ResponseWriter, r *http.Request) {
	var in struct{ JobID, Reason string }
	if !decode(w, r, &in) {
		return
	}
	if in.Reason == "" {
		refuse(w, http.StatusBadRequest, "ClientException", "a reason is required")
		return
	}
	f.terminate(in.JobID, in.Reason)
	answer(w, struct{}{})
}

func decode(w http.ResponseWriter, r *http.Request, in any) bool {
	if err := json.NewDecoder(r.Body).Decode(in); err != nil {
		refuse(w, http.StatusBadRequest, "ClientException", err.Error())
		return false
	}
	return true
}

func answer(w http.ResponseWriter, out any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out) // the client may be gone
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("X-Amzn-ErrorType", code)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message}) // the client may be gone
}

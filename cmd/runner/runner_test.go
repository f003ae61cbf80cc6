package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/cloud/media"
	"lipsync/internal/aws/cloud/messages"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/domain/version"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/onnxtest"
)

// account is the service on an emulator, with a caller and the environment of a job.
type account struct {
	service     *service.Service
	demand      lipsync.Demand
	caller      lipsync.Caller
	environment map[string]string

	functionLog logged // of the broker
}

func newAccount(t *testing.T) *account {
	t.Helper()
	e := awstest.Shared(t)
	cfg := e.Config()
	credentials, err := cfg.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_REGION": cfg.Region, "AWS_ENDPOINT_URL": e.URL, "AWS_CA_BUNDLE": "",
		"AWS_ACCESS_KEY_ID": credentials.AccessKeyID, "AWS_SECRET_ACCESS_KEY": credentials.SecretAccessKey,
	} {
		t.Setenv(name, value)
	}
	a := &account{environment: map[string]string{
		"LIPSYNC_BROKER_FUNCTION": "broker", "LIPSYNC_MEDIA_ROLE": "arn:aws:iam::000000000000:role/media", "LIPSYNC_MAX_WORKERS": "4", "LIPSYNC_MAX_NEURAL_WORKERS": "0",
		"LIPSYNC_NAME": "Trial", "LIPSYNC_TABLE": e.Table(t), "LIPSYNC_BUCKET": e.Bucket(t), "LIPSYNC_QUEUE_URL": e.Queue(t), "LIPSYNC_DELIVERIES_URL": e.Queue(t),
		"LIPSYNC_SCRATCH": t.TempDir(), "LIPSYNC_MODELS": t.TempDir(), "LIPSYNC_JOB_TIMEOUT": "1h",
		"LIPSYNC_MAX_VIDEO": "10000000", "LIPSYNC_MAX_AUDIO": "10000000",
		"LIPSYNC_MAX_DURATION": "1m", "LIPSYNC_MAX_SIDE": "2000", "LIPSYNC_MAX_FPS": "60", "LIPSYNC_MAX_GIGAPIXELS": "2000", "LIPSYNC_KEEP_FINDINGS": "24h",
		"AWS_BATCH_JOB_ID": "the-job", "AWS_BATCH_JOB_ATTEMPT": "2",
	}}
	deployment, err := cloud.New(cfg, a.getenv, io.Discard, cloud.Records, media.Kept, messages.Queue)
	if err != nil {
		t.Fatal(err)
	}
	a.serveLeases(t, cfg)
	a.service, a.demand = deployment.Service, deployment.Table.Queue
	a.service.Engines = []string{"warp"}
	_, key, err := a.service.CreateKey(t.Context(), "account", "name", 0)
	if err != nil {
		t.Fatal(err)
	}
	a.caller = lipsync.Caller{Account: key.Account, KeyID: key.ID, KeyName: key.Name}
	return a
}

func (a *account) getenv(name string) string { return a.environment[name] }

// request makes a request of two files, and returns its id.
func (a *account) request(t *testing.T, video, audio string) string {
	t.Helper()
	n := requests.Params{ID: a.service.NewRequestID(), Audios: make([]requests.Track, 1)}
	for _, m := range []struct {
		kind   failure.MediaKind
		path   string
		source *requests.Source
	}{{failure.Video, video, &n.Video}, {failure.Audio, audio, &n.Audios[0].Source}} {
		file, err := os.Open(m.path)
		if err != nil {
			t.Fatal(err)
		}
		*m.source, err = a.service.StoreMedia(t.Context(), n.ID, m.kind, file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	id, err := a.service.Generate(t.Context(), a.caller, n)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// run runs a job until the number of requests has ended, or until it exits by itself. It checks the
// exit status, and returns the log.
func (a *account) run(t *testing.T, ctx context.Context, ended int, want int, tap func(line []byte)) string {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	count := func(line []byte) {
		if tap != nil {
			tap(line)
		}
		if bytes.Contains(line, []byte(`"msg":"completed"`)) || bytes.Contains(line, []byte(`"msg":"failed"`)) {
			if ended--; ended == 0 {
				cancel()
			}
		}
	}
	var stdout, stderr bytes.Buffer
	if got := run(ctx, nil, a.getenv, io.MultiWriter(&stdout, writerFunc(count)), &stderr); got != want || stderr.Len() > 0 {
		t.Errorf("got exit status %d and %q, want %d; log:\n%s", got, &stderr, want, &stdout)
	}
	for line := range strings.Lines(stdout.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("logged %q, want JSON", line)
		}
	}
	if left, err := os.ReadDir(a.environment["LIPSYNC_SCRATCH"]); err != nil || len(left) > 0 {
		t.Errorf("scratch holds %v (%v), want nothing", left, err)
	}
	return stdout.String()
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	if f != nil {
		f(p)
	}
	return len(p), nil
}

// want checks the state of a request.
func (a *account) want(t *testing.T, id string, status lipsync.Status, sentence string, attempts int) {
	t.Helper()
	r, err := a.service.Store.Requests.ByID(t.Context(), id)
	if err != nil || r.Status != status || r.Failure.Sentence() != sentence || r.Attempts != attempts || r.Lease != "" {
		t.Errorf("got %s %q after %d attempts, lease %q (%v), want %s %q after %d",
			r.Status, r.Failure.Sentence(), r.Attempts, r.Lease, err, status, sentence, attempts)
	}
}

// face makes a video with a face.
func face(t *testing.T) string { return ffmpegtest.Head(t, 6) }

// noFace makes a video without a face, which fails soon.
func noFace(t *testing.T) string {
	return ffmpegtest.Make(t, "none.mp4", "-f", "lavfi", "-i", "testsrc=s=320x240:d=1")
}

func sound(t *testing.T) string { return ffmpegtest.Make(t, "a.wav", "-f", "lavfi", "-i", "sine=d=1") }

// TestJob does three waiting requests. The third uses what was found out about the video of the second.
func TestJob(t *testing.T) {
	a := newAccount(t)
	a.caller.CallID = "the-call"
	video := face(t)
	first, second, third := a.request(t, noFace(t), sound(t)), a.request(t, video, sound(t)), a.request(t, video, sound(t))
	log := a.run(t, t.Context(), 3, done, nil)
	a.want(t, first, lipsync.Failed, "no face found in the video", 1)
	a.want(t, second, lipsync.Completed, "", 1)
	a.want(t, third, lipsync.Completed, "", 1)
	for _, part := range []string{
		`"job":"the-job"`, `"job_attempt":"2"`, `"account":"account","request":"` + second + `","call":"the-call"`, `"RenderSpeed":`,
	} {
		if !strings.Contains(log, part) {
			t.Errorf("log has no %s:\n%s", part, log)
		}
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, `"request":`) && !strings.Contains(line, `"call":"the-call"`) {
			t.Errorf("a line about a request doesn't name its call: %s", line)
		}
	}
	for _, part := range []string{`"RequestsCompleted":1`, `"Code":"no_face"`, `"QueueWait":`} {
		if log := a.functionLog.String(); !strings.Contains(log, part) {
			t.Errorf("the function's log has no %s:\n%s", part, log)
		}
	}
	if got, want := findingsUsed(t, log), map[string]bool{second: false, third: true}; !maps.Equal(got, want) {
		t.Errorf("findings were used by %v, want %v", got, want)
	}
	if means, err := a.demand.LockScaling(t.Context(), time.Now(), time.Now()); err != nil || means[lipsync.Small] <= 0 || means[lipsync.Small] > time.Minute || means[lipsync.Large] != 0 {
		t.Errorf("got mean times of %v (%v), want that of the requests, which are small", means, err)
	}
}

// findingsUsed returns whether each rendered request used findings of an earlier one, as the log says.
func findingsUsed(t *testing.T, log string) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	for text := range strings.Lines(log) {
		var line struct {
			Msg, Request string
			FindingsUsed bool `json:"findings_used"`
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line.Msg == "rendered" {
			used[line.Request] = line.FindingsUsed
		}
	}
	return used
}

// TestNothingWaits checks that the runner exits at once and loads nothing, if there are no
// requests or other runners hold them all.
func TestNothingWaits(t *testing.T) {
	a := newAccount(t)
	for name, content := range map[string]string{"models.json": catalogOf("a model"), "w.onnx": "a model"} {
		if err := a.service.Objects.Put(t.Context(), "models/"+name, strings.NewReader(content), -1); err != nil {
			t.Fatal(err)
		}
	}
	nothing := func() {
		t.Helper()
		started := processorTime(t)
		if log := a.run(t, t.Context(), 1, done, nil); strings.Contains(log, "started") || strings.Contains(log, "sandbox") {
			t.Errorf("got log %s, want nothing begun", log)
		}
		if left, err := os.ReadDir(a.environment["LIPSYNC_MODELS"]); err != nil || len(left) > 0 {
			t.Errorf("got models %v (%v), want none fetched", left, err)
		}
		if took := processorTime(t) - started; took > time.Second {
			t.Errorf("took %s of processor time", took)
		}
	}
	nothing()
	held, err := a.service.Claim(t.Context(), a.request(t, noFace(t), sound(t)))
	if err != nil {
		t.Fatal(err)
	}
	nothing()
	if err := a.service.Renew(t.Context(), held); err != nil {
		t.Error(err)
	}
}

// processorTime returns the processor time of this process.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestJobWithBrokenModels runs a job with broken models in the bucket. It must render without them.
func TestJobWithBrokenModels(t *testing.T) {
	a := newAccount(t)
	for name, content := range map[string]string{"models.json": catalogOf("a model"), "w.onnx": "another"} {
		if err := a.service.Objects.Put(t.Context(), "models/"+name, strings.NewReader(content), -1); err != nil {
			t.Fatal(err)
		}
	}
	own := a.request(t, face(t), sound(t))
	log := a.run(t, t.Context(), 1, done, nil)
	a.want(t, own, lipsync.Completed, "", 1)
	if want := "the models of the bucket are incomplete"; strings.Count(log, want) != 1 {
		t.Errorf("log has no %s:\n%s", want, log)
	}
}

// TestJobWithBadModel runs a job with a network that can't be loaded. The job must fail at the first
// request that needs the network, postpone that request, and leave the others to other jobs.
func TestJobWithBadModel(t *testing.T) {
	a := newAccount(t)
	a.environment["LIPSYNC_ONNXRUNTIME"] = onnxtest.Library(t)
	a.service.Engines = []string{"wav2lip"}
	for name, content := range map[string]string{"models.json": catalogOf("no model"), "w.onnx": "no model"} {
		if err := a.service.Objects.Put(t.Context(), "models/"+name, strings.NewReader(content), -1); err != nil {
			t.Fatal(err)
		}
	}
	own, other := a.request(t, face(t), sound(t)), a.request(t, face(t), sound(t))
	a.run(t, t.Context(), 0, failed, nil)
	if r, err := a.service.Store.Requests.ByID(t.Context(), own); err != nil || r.Status != lipsync.Processing || r.Attempts != 1 || !r.LeaseUntil.After(time.Now()) {
		t.Errorf("got %s, %d attempts, not before %s, %v, want it to wait for its next attempt", r.Status, r.Attempts, r.LeaseUntil, err)
	}
	a.want(t, other, lipsync.Queued, "", 0)
}

// TestLate runs a job of which half of the time is over. It must begin no request.
func TestLate(t *testing.T) {
	a := newAccount(t)
	id := a.request(t, noFace(t), sound(t))
	a.environment["LIPSYNC_JOB_TIMEOUT"] = "1ns"
	a.run(t, t.Context(), 1, done, nil)
	a.want(t, id, lipsync.Queued, "", 0)
}

func TestInterrupted(t *testing.T) {
	a := newAccount(t)
	id := a.request(t, face(t), sound(t))
	ctx, cancel := context.WithCancel(t.Context())
	a.run(t, ctx, 1, done, func(line []byte) {
		if bytes.Contains(line, []byte(`"msg":"started"`)) {
			cancel()
		}
	})
	a.want(t, id, lipsync.Processing, "", 0)
	a.run(t, t.Context(), 1, done, nil)
	a.want(t, id, lipsync.Completed, "", 1)
}

func TestBroken(t *testing.T) {
	a := newAccount(t)
	a.environment["LIPSYNC_BROKER_FUNCTION"] = "never"
	a.run(t, t.Context(), 1, failed, nil)
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args           []string
		status         int
		stdout, stderr string
	}{
		{[]string{"--help"}, done, help(), ""},
		{[]string{"--version"}, done, "runner " + version.String() + "\n", ""},
		{[]string{"x"}, failed, "", "runner: takes no argument but function. Try: runner --help\n"},
		{[]string{"--x"}, failed, help(), "flag provided but not defined: -x\nrunner: takes no argument but function. Try: runner --help\n"},
	} {
		var stdout, stderr strings.Builder
		got := run(t.Context(), c.args, os.Getenv, &stdout, &stderr)
		if got != c.status || stdout.String() != c.stdout || stderr.String() != c.stderr {
			t.Errorf("%v: got %d, %q and %q", c.args, got, &stdout, &stderr)
		}
	}
}

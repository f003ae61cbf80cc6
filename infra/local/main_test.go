package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"lipsync/internal/aws/gateway"
	"lipsync/internal/domain/settings"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/onnxtest"
	"lipsync/internal/test/resttest"
)

// These are for the suite: rates low enough to be reached within a minute at the emulator's speed,
// and files that together are slightly smaller than a form may be.
const (
	generateRate, readRate   = 30, 100
	maxVideoMiB, maxAudioMiB = 3, 1
)

// fixtures are shared by all tests.
var fixtures struct {
	dir, root     string
	decided       decisions
	make          func() error // once
	built         *built
	video, speech string // of a small job
	long          string // a speech that takes a while to render
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "lipsync-local-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fixtures.dir = dir
	fixtures.make = sync.OnceValue(makeFixtures)
	status := m.Run()
	for _, d := range deployments {
		d.close()
	}
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

func makeFixtures() (err error) {
	f := &fixtures
	if f.root, err = filepath.Abs(filepath.Join("..", "..")); err != nil {
		return err
	}
	f.decided = decisions{
		"lipsync:generateRate": generateRate, "lipsync:readRate": readRate,
		"lipsync:maxVideoMiB": maxVideoMiB, "lipsync:maxAudioMiB": maxAudioMiB,
		"lipsync:corsOrigins":               "https://example.com", // in addition to the dashboard
		"lipsync:engines":                   "warp,wav2lip",
		settings.ProvenanceSecret.Context(): signingSecret,
		settings.EventBus.Context():         busName,
	}
	dir := filepath.Join(f.dir, "built")
	if f.built, err = compile(context.Background(), f.root, dir); err != nil {
		return err
	}
	if err := f.built.synth(context.Background(), f.root, filepath.Join(dir, "cdk.out"), f.decided); err != nil {
		return err
	}
	large := filepath.Join(f.dir, "large.mp4")
	f.video, f.speech, f.long = filepath.Join(f.dir, "video.mp4"), filepath.Join(f.dir, "speech.wav"), filepath.Join(f.dir, "long.wav")
	return errors.Join(
		ffmpegtest.DrawHead(context.Background(), large, 15),
		ffmpeg("-i", large, "-vf", "scale=480:270", f.video),
		ffmpeg("-f", "lavfi", "-i", "sine=frequency=200:duration=0.6", f.speech),
		ffmpeg("-f", "lavfi", "-i", "sine=frequency=200:duration=8", f.long))
}

func ffmpeg(args ...string) error {
	return run(exec.Command("ffmpeg", append([]string{"-v", "error", "-nostdin", "-y"}, args...)...), "")
}

// deployments are those that tests started, by the emulator's URL. They share the machine, so
// tests use them one after the other.
var deployments = map[string]*testDeployment{}

// testDeployment is the service on an emulator, with a proxy that can make faults between jobs and
// the emulator.
type testDeployment struct {
	*deployment
	between *between
	log     string // path of the log of jobs and of the deployment
}

// deployed returns the deployment on an emulator. It is created once.
func deployed(t testing.TB, e *awstest.Emulator) *testDeployment {
	t.Helper()
	if deployments[e.URL] == nil {
		deployments[e.URL] = newDeployment(t, e, "")
	}
	return deployments[e.URL]
}

// newDeployment creates a deployment. Its jobs run the program runner, or for "" the real runner.
func newDeployment(t testing.TB, e *awstest.Emulator, runner string) *testDeployment {
	t.Helper()
	return newDeploymentWith(t, e, runner, 0)
}

// newDeploymentWith creates a deployment with small workers, most at once. Of other deployments jobs do all.
func newDeploymentWith(t testing.TB, e *awstest.Emulator, runner string, small int) *testDeployment {
	t.Helper()
	if err := fixtures.make(); err != nil {
		t.Fatal(err)
	}
	b := *fixtures.built
	b.Runner = cmp.Or(runner, b.Runner)
	return deploy(t, e, b, small)
}

// deploy creates a deployment of what was built.
func deploy(t testing.TB, e *awstest.Emulator, b built, small int) *testDeployment {
	t.Helper()
	dir, err := os.MkdirTemp(fixtures.dir, "deployment-")
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	d := &testDeployment{between: newBetween(e.URL), log: log.Name()}
	d.deployment, err = start(context.Background(), options{
		built: b, Config: e.Config(), Host: "127.0.0.1", Scratch: dir, Jobs: 1, Small: small,
		JobEnv: []string{
			"PATH=" + os.Getenv("PATH"), // with the quick ffmpeg
			"AWS_ENDPOINT_URL=" + d.between.URL, settings.AllowPrivateNetworks.Env() + "=true", settings.ONNXRuntime.Env() + "=" + onnxtest.Library(t),
			settings.ProvenanceSecret.Env() + "=", // only TestProvenance signs
		}, JobLog: log,
		Log: slog.New(slog.NewTextHandler(log, nil)), Made: new(undo), // everything ends with the emulator
	})
	if err != nil {
		said, _ := os.ReadFile(e.Log)
		t.Fatalf("%v\n%s", err, said[max(0, len(said)-4000):])
	}
	return d
}

// target returns the deployment for the suite of the API.
func (d *testDeployment) target(t *testing.T) resttest.Target {
	return resttest.Target{
		URL:          d.URL,
		GenerateRate: generateRate, ReadRate: readRate,
		MaxVideo: maxVideoMiB << 20, MaxAudio: maxAudioMiB << 20, MaxForm: gateway.MaxForm,
		KeepOutputs: 7 * 24 * time.Hour,
		Video:       read(t, fixtures.video), Audio: read(t, fixtures.speech), Long: read(t, fixtures.long),
		FetchesHere: true, Differs: differences(),
		Sample: true, // TestContract of package rest has all
		NewKey: resttest.KeysOf(d.service), NewReadOnly: resttest.ReadOnlyOf(d.service),
	}
}

// differences returns the parts of the contract that the AWS deployment or the emulator can't keep,
// for resttest.Target.
func differences() map[string]string {
	const (
		query   = "the gateway reads the query itself, and passes on what it makes of it"
		slashes = "the emulator joins repeated slashes"
		headers = "the emulator joins the values of a header that comes twice"
	)
	return map[string]string{
		"list/bounds/limit=%zz":             query,
		"list/bounds/a;b":                   query,
		"webhooks/deliveries/?%":            query,
		"batches/refused/query":             query,
		"batches/refused/query_of_a_list":   query,
		"list/bounds/reference_id=%FF":      query,
		"list/bounds/limit=٣":               "the emulator refuses a query that isn't ASCII by itself",
		"routes/unknown_path///health":      slashes,
		"routes/unknown_path//v1//users/me": slashes,
		"idempotency/key/two":               headers,
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestContract runs the contract's suite against the deployed stack, on an emulator that refuses calls
// of functions and jobs that their roles do not allow.
func TestContract(t *testing.T) {
	resttest.Run(t, deployed(t, awstest.Enforcing(t)).target(t))
}

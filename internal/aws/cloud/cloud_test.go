package cloud_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/cloud/jobs"
	"lipsync/internal/aws/cloud/media"
	"lipsync/internal/aws/cloud/messages"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/version"
)

// environment has the environment variables of a program.
type environment map[string]string

func (e environment) get(name string) string { return e[name] }

func TestSettings(t *testing.T) {
	everything := []cloud.Part{
		cloud.Records, media.Signed, messages.Queue, cloud.Demand, jobs.Pool, cloud.Generating, cloud.Reading, cloud.Sizes, cloud.Retention, cloud.Origins,
	}
	good := environment{
		"LIPSYNC_NAME": "Trial", "LIPSYNC_TABLE": "t", "LIPSYNC_BUCKET": "b", "LIPSYNC_QUEUE_URL": "https://q", "LIPSYNC_JOB_QUEUE": "q",
		"LIPSYNC_JOB_DEFINITION": "d", "LIPSYNC_MAX_WORKERS": "20", "LIPSYNC_MAX_NEURAL_WORKERS": "0", "LIPSYNC_GENERATE_RATE": "60", "LIPSYNC_READ_RATE": "600",
		"LIPSYNC_MAX_VIDEO": "5368709120", "LIPSYNC_MAX_AUDIO": "524288000", "LIPSYNC_ENGINES": "wav2lip,warp",
		"LIPSYNC_CORS_ORIGINS": "*", "LIPSYNC_KEEP_INPUTS": "2h", "LIPSYNC_KEEP_OUTPUTS": "48h", "LIPSYNC_KEEP_RECORDS": "72h",
	}
	config := cloud.Config(environment{"AWS_REGION": "us-east-1"}.get)
	var log strings.Builder
	deployment, err := cloud.New(config, good.get, &log, everything...)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"msg":"start","version":"` + version.Number; !strings.Contains(log.String(), want) {
		t.Errorf("got log %s, want %s", &log, want)
	}
	s := deployment.Service
	if s.GenerateRate != 60 || s.ReadRate != 600 || s.MaxVideo != 5<<30 || s.MaxAudio != 500<<20 {
		t.Errorf("got rates %d and %d, sizes %d and %d", s.GenerateRate, s.ReadRate, s.MaxVideo, s.MaxAudio)
	}
	if got, want := s.Limits.Keep, (lipsync.Retention{Inputs: 2 * time.Hour, Outputs: 48 * time.Hour, Records: 72 * time.Hour}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := strings.Join(s.Engines, " "), "wav2lip warp"; got != want {
		t.Errorf("got engines %s, want %s", got, want)
	}
	for name := range good {
		_, err := cloud.New(config, func(n string) string { return map[bool]string{false: good[n]}[n == name] }, io.Discard, everything...)
		if want := name + " is not set"; err == nil || err.Error() != want {
			t.Errorf("without %s: got %v, want %s", name, err, want)
		}
	}
}

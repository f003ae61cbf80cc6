package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"lipsync/internal/test/awstest"
	"lipsync/internal/test/check"
)

// TestGuarded checks that the guard goes on, to remove the stack, however its tests end, and that nothing which they started goes on.
func TestGuarded(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		signal os.Signal
		want   string
	}{
		"they pass":           {"exit 0", nil, ""},
		"they fail":           {"exit 1", nil, "exit status 1"},
		"they panic":          {"exit 2", nil, "exit status 2"},
		"they are killed":     {"kill -9 $$", nil, "signal: killed"},
		"Ctrl-C":              {"sleep 300 & wait", syscall.SIGINT, "ended by the signal interrupt"},
		"they ignore Ctrl-C":  {"trap '' INT; sleep 300 & wait", syscall.SIGINT, "ended by the signal interrupt"},
		"the terminal closes": {"sleep 300 & wait", syscall.SIGHUP, "ended by the signal hangup"},
	} {
		t.Run(name, func(t *testing.T) {
			signals := make(chan os.Signal, 2)
			if c.signal != nil {
				time.AfterFunc(200*time.Millisecond, func() { signals <- c.signal })
				time.AfterFunc(700*time.Millisecond, func() { signals <- c.signal }) // an impatient person
			}
			script := exec.Command("sh", "-c", c.script)
			err := guarded(script, signals)
			if got := ""; err != nil {
				got = err.Error()
				if got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			} else if c.want != "" {
				t.Errorf("got no error, want %q", c.want)
			}
			for deadline := time.Now().Add(5 * time.Second); syscall.Kill(-script.Process.Pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("a process goes on")
				}
			}
		})
	}
}

// TestRemove removes the stacks of tests with what is in their buckets, and no other stack.
func TestRemove(t *testing.T) {
	config := awstest.Own(t).Config()
	stacks, objects := cloudformation.NewFromConfig(config), s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true })
	for _, name := range []string{prefix + "one", prefix + "two", "Lipsync"} {
		bucket := strings.ToLower(name) + "-media"
		_, err := stacks.CreateStack(t.Context(), &cloudformation.CreateStackInput{
			StackName: &name, TemplateBody: aws.String(`{"Resources":{"Media":{"Type":"AWS::S3::Bucket","Properties":{"BucketName":"` + bucket + `"}}},"Outputs":{"BucketName":{"Value":{"Ref":"Media"}}}}`),
		})
		check.Must(t, err)
		check.Must(t, cloudformation.NewStackCreateCompleteWaiter(stacks).Wait(t.Context(), &cloudformation.DescribeStacksInput{StackName: &name}, time.Minute))
		_, err = objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("outputs/a/b.mp4"), Body: strings.NewReader("x")})
		check.Must(t, err)
	}
	var out strings.Builder
	r := remover{config, &out, 10 * time.Millisecond}
	check.Must(t, r.stack(t.Context(), prefix+"one"))
	check.Must(t, r.stack(t.Context(), prefix+"none"))
	check.Must(t, r.all(t.Context(), prefix))
	if !strings.Contains(out.String(), "There were 1 stacks") {
		t.Errorf("said %q, want that one stack was left", out.String())
	}
	found, err := objects.ListBuckets(t.Context(), &s3.ListBucketsInput{})
	check.Must(t, err)
	var names []string
	for _, b := range found.Buckets {
		names = append(names, aws.ToString(b.Name))
	}
	if got := strings.Join(names, " "); strings.Contains(got, "smoke") || !strings.Contains(got, "lipsync-media") {
		t.Errorf("got the buckets %s, want only those of the other stack", got)
	}
}

// TestIdentity checks that no credentials are told apart from credentials that AWS refuses.
func TestIdentity(t *testing.T) {
	config := awstest.Shared(t).Config()
	if arn, err := identity(t.Context(), config); err != nil || !strings.HasPrefix(arn, "arn:aws:") {
		t.Errorf("got %s (%v), want an ARN", arn, err)
	}
	none := config.Copy()
	none.Credentials = nil
	if _, err := identity(t.Context(), none); !errors.Is(err, errNobody) {
		t.Errorf("no credentials: got %v", err)
	}
	none = config.Copy()
	none.BaseEndpoint, none.RetryMaxAttempts = aws.String("http://127.0.0.1:1"), 1
	if _, err := identity(t.Context(), none); err == nil || errors.Is(err, errNobody) {
		t.Errorf("AWS doesn't answer: got %v", err)
	}
}

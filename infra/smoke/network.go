package smoke

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"lipsync/internal/network/catalog"
)

// networkFile is the name of the network in the bucket.
const networkFile = "smoke.onnx"

// Network is a step for a stack that has the engine wav2lip: it does a job with a network.
type Network struct {
	File     string                         // the network
	Provider string                         // what must compute it
	Log      func(since time.Time) []string // lines of the log of runners that name the network
}

// Step returns the step.
func (n Network) Step() Step {
	return Step{"network", "puts a network of wav2lip into the bucket, does a job with it, and reads in the runner's log what computed it", n.try}
}

func (n Network) try(t *testing.T, s *Stack) {
	c, started := s.client(t), time.Now()
	n.put(t, s)
	c.wantOutput(t, c.startWith(t, "wav2lip", s.Audio))
	t.Logf("completed after %s", time.Since(started).Round(time.Second))
	want := `"provider":"` + n.Provider + `"`
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Second) { // a log may be late
		lines := strings.Join(n.Log(started), "\n")
		if strings.Contains(lines, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the runner's log has no %s:\n%s", want, lines)
		}
	}
}

// put puts the network into the bucket, and then the list that names it.
func (n Network) put(t *testing.T, s *Stack) {
	t.Helper()
	content, err := os.ReadFile(n.File)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	list, err := json.Marshal(catalog.Catalog{Models: []catalog.Model{{Role: catalog.Wav2Lip, File: networkFile, SHA256: hex.EncodeToString(sum[:]), Licence: "random weights"}}})
	if err != nil {
		t.Fatal(err)
	}
	client := s3.NewFromConfig(s.Config, func(o *s3.Options) { o.UsePathStyle = s.Config.BaseEndpoint != nil })
	for _, object := range []struct {
		name    string
		content []byte
	}{{networkFile, content}, {catalog.FileName, list}} {
		bucket, key := aws.String(s.Outputs["BucketName"]), aws.String("models/"+object.name)
		if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: key, Body: bytes.NewReader(object.content)}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if _, err := client.DeleteObject(context.WithoutCancel(t.Context()), &s3.DeleteObjectInput{Bucket: bucket, Key: key}); err != nil {
				t.Error(err)
			}
		})
	}
}

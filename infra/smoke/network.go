package smoke

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"lipsync/internal/network/catalog"
)

// networkFile is the name of the network in the bucket.
const networkFile = "smoke.onnx"

// network does a job with the stack's network.
func network(t *testing.T, s *Stack) {
	c, began := s.client(t), time.Now()
	s.putNetwork(t)
	c.wantOutput(t, c.start(t, "wav2lip", c.Video, c.Audio))
	s.wantLine(t, machines, began, networkFile, `"provider":"`+s.Provider+`"`)
}

// putNetwork puts the network into the bucket, and then the list that names it.
func (s *Stack) putNetwork(t *testing.T) {
	t.Helper()
	content, err := os.ReadFile(s.Network)
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

package awstest

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/uuid"
)

// Each kind of shared emulator runs at most once in a test binary, and ends with it.
var (
	shared    = sync.OnceValues(func() (*Emulator, error) { return Start(context.Background(), Options{}) })
	enforcing = sync.OnceValues(func() (*Emulator, error) {
		return Start(context.Background(), Options{Env: []string{"AUTH=true"}})
	})
)

// Shared returns the emulator that all tests of the binary share. It skips the test if the
// emulator is not installed.
func Shared(t testing.TB) *Emulator {
	t.Helper()
	return started(t, shared)
}

// Enforcing is like Shared, but its emulator authenticates and authorizes callers as AWS does.
func Enforcing(t testing.TB) *Emulator {
	t.Helper()
	return started(t, enforcing)
}

// Own is like Shared, but its emulator serves only this test, and ends with it.
func Own(t testing.TB) *Emulator {
	t.Helper()
	e := started(t, func() (*Emulator, error) { return Start(t.Context(), Options{}) })
	t.Cleanup(e.Stop)
	return e
}

func started(t testing.TB, start func() (*Emulator, error)) *Emulator {
	t.Helper()
	e, err := start()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the emulator of AWS is not installed; make test installs it: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Table creates an empty table like the deployed one, and returns its name.
func (e *Emulator) Table(t testing.TB) string {
	t.Helper()
	name := "table-" + uuid.NewString()
	if err := e.createTable(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	return name
}

// Bucket creates an empty bucket, and returns its name.
func (e *Emulator) Bucket(t testing.TB) string {
	t.Helper()
	name := "bucket-" + uuid.NewString()
	client := s3.NewFromConfig(e.Config(), func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	return name
}

// Queue creates an empty queue, and returns its URL.
func (e *Emulator) Queue(t testing.TB) string {
	t.Helper()
	name := "queue-" + uuid.NewString()
	out, err := sqs.NewFromConfig(e.Config()).CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
	if err != nil {
		t.Fatal(err)
	}
	return *out.QueueUrl
}

package cloud_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/batch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"lipsync/internal/aws/cloud"
)

// TestConfig checks that clients have the configuration in the environment of a function.
func TestConfig(t *testing.T) {
	real := environment{
		"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "session",
	}
	config := cloud.Config(real.get)
	got, err := config.Credentials.Retrieve(t.Context())
	if err != nil || got.AccessKeyID != "id" || got.SecretAccessKey != "secret" || got.SessionToken != "session" {
		t.Errorf("got the credentials %+v (%v)", got, err)
	}
	client := dynamodb.NewFromConfig(config)
	if o := client.Options(); o.Region != "eu-west-1" || o.BaseEndpoint != nil {
		t.Errorf("got region %q and endpoint %v, want eu-west-1 and AWS's own", o.Region, o.BaseEndpoint)
	}
	if o := s3.NewFromConfig(config).Options(); o.RequestChecksumCalculation != aws.RequestChecksumCalculationWhenSupported || o.ResponseChecksumValidation != aws.ResponseChecksumValidationWhenSupported {
		t.Errorf("objects go and come with checksums %d and %d", o.RequestChecksumCalculation, o.ResponseChecksumValidation)
	}
	emulated := environment{"AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": "http://emulator", "AWS_ENDPOINT_URL_BATCH": "http://batch"}
	config = cloud.Config(emulated.get)
	if got := dynamodb.NewFromConfig(config).Options().BaseEndpoint; got == nil || *got != "http://emulator" {
		t.Errorf("DynamoDB: got %v, want the emulator", got)
	}
	if got := batch.NewFromConfig(config).Options().BaseEndpoint; got == nil || *got != "http://batch" {
		t.Errorf("Batch: got %v, want the address of its own", got)
	}
}

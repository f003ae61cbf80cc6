package cloud

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Config returns the configuration of clients in a function of Lambda, all of which
// Lambda tells in the environment: region and credentials, and on an emulator where it
// is. The SDK's package config, which looks in files and asks hosts too, makes a
// function's program larger by a quarter and its start slower.
func Config(getenv func(string) string) aws.Config {
	c := aws.Config{
		Region: getenv("AWS_REGION"),
		Credentials: credentials.NewStaticCredentialsProvider(
			getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"), getenv("AWS_SESSION_TOKEN")),
		HTTPClient:    awshttp.NewBuildableClient(), // one for all clients
		ConfigSources: []any{endpoints{getenv}},

		// As package config has it: objects go and come with checksums.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	}
	if emulator := getenv("AWS_ENDPOINT_URL"); emulator != "" {
		c.BaseEndpoint = &emulator
	}
	return c
}

// endpoints tells the SDK's clients where a service is that is elsewhere than the
// others: AWS_ENDPOINT_URL_BATCH and the like.
type endpoints struct{ getenv func(string) string }

// GetServiceBaseEndpoint implements what the SDK asks a source of configuration for.
func (e endpoints) GetServiceBaseEndpoint(_ context.Context, service string) (url string, found bool, err error) {
	url = e.getenv("AWS_ENDPOINT_URL_" + strings.ToUpper(strings.ReplaceAll(service, " ", "_")))
	return url, url != "", nil
}

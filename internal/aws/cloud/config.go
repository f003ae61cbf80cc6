package cloud

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"lipsync/internal/aws/awsclient"
)

// Config returns the configuration of the clients of AWS in a function of Lambda. It reads only the
// environment, where Lambda puts the region and the credentials, and an emulator its address. The
// SDK's package config also reads files and asks hosts; it makes a function's program larger by a
// quarter and its start slower.
func Config(getenv func(string) string) aws.Config {
	c := aws.Config{
		Region: getenv("AWS_REGION"),
		Credentials: credentials.NewStaticCredentialsProvider(
			getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"), getenv("AWS_SESSION_TOKEN")),
		ConfigSources: []any{endpoints{getenv}},

		// As in package config: objects are sent and received with checksums.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	}
	if emulator := getenv("AWS_ENDPOINT_URL"); emulator != "" {
		c.BaseEndpoint = &emulator
	}
	awsclient.KeepAnswers(&c)
	return c
}

// endpoints gives the SDK's clients the address of a service that is not at the address of the
// others. The environment has it in a variable such as AWS_ENDPOINT_URL_BATCH.
type endpoints struct{ getenv func(string) string }

// GetServiceBaseEndpoint returns the address of a service, as the SDK asks a source of configuration for it.
func (e endpoints) GetServiceBaseEndpoint(_ context.Context, service string) (url string, found bool, err error) {
	url = e.getenv("AWS_ENDPOINT_URL_" + strings.ToUpper(strings.ReplaceAll(service, " ", "_")))
	return url, url != "", nil
}

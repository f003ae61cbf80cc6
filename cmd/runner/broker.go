package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"lipsync/internal/aws/broker"
	"lipsync/internal/aws/cloud"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/settings"
	"lipsync/internal/store/s3"
)

// behindBroker adds the records behind the broker, and the objects that its sessions reach. j.own has those that the runner itself reaches.
func (j *job) behindBroker(d *cloud.Deployment) {
	bucket := settings.Bucket.In(d.Settings)
	j.records = broker.NewRecords(invoker(lambda.NewFromConfig(d.Config), settings.BrokerFunction.In(d.Settings)), d.Own.Duty)
	open := func(credentials aws.CredentialsProvider) lipsync.Objects {
		config := d.Config.Copy()
		config.Credentials = credentials
		objects := s3.New(config, bucket, s3.Signer{})
		objects.Unlisted = true
		return objects
	}
	j.own = open(d.Config.Credentials)
	d.Ports.Objects = broker.NewObjects(j.records, j.own, open)
}

// invoker returns calls of the function of Lambda with the name.
func invoker(client *lambda.Client, name string) broker.Invoke {
	return func(ctx context.Context, text []byte) ([]byte, error) {
		out, err := client.Invoke(ctx, &lambda.InvokeInput{FunctionName: &name, Payload: text})
		if _, busy := errors.AsType[*types.TooManyRequestsException](err); busy {
			return nil, &failure.Error{Code: failure.RateLimited, Message: "the broker is busy", Err: err}
		}
		if err == nil && out.FunctionError != nil { // it crashed, or took too long
			return nil, &failure.Error{Code: failure.Unavailable, Message: "the broker fails", Err: fmt.Errorf("%s: %.200s", *out.FunctionError, out.Payload)}
		}
		if err != nil {
			return nil, err
		}
		return out.Payload, nil
	}
}

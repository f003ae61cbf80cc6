package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/alecthomas/kong"
	"github.com/aws/aws-sdk-go-v2/config"

	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/internal/aws/awsclient"
	"lipsync/internal/domain/base"
	"lipsync/internal/domain/service"
	"lipsync/internal/domain/settings"
	"lipsync/internal/store/dynamodb"
)

// deploymentFlags say whose keys or users a command is about: those of a data folder, or of a
// table on AWS.
type deploymentFlags struct {
	dataFlag
	Table *string `placeholder:"NAME" help:"Table of a service on AWS, instead of a data folder. Region and credentials are those that the AWS CLI would use."`
}

// AfterApply refuses a data folder together with a table. The data folder's default doesn't count, and neither does
// that of the environment.
func (d deploymentFlags) AfterApply(k *kong.Context) error {
	for _, p := range k.Path {
		if p.Flag != nil && !p.Resolved && p.Flag.Name == settings.Data.Name && d.Table != nil {
			return fmt.Errorf("%s and --table can't be used together", settings.Data.Flag())
		}
	}
	return nil
}

// String names the data folder or the table, for people.
func (d deploymentFlags) String() string {
	if d.Table != nil {
		return "the table " + *d.Table
	}
	return "the data folder " + d.Data
}

// withKept calls f with the service of a data folder or table that exists: it makes no data folder.
func (d deploymentFlags) withKept(ctx context.Context, c base.Config, f func(*service.Service) error) error {
	if d.Table == nil {
		if err := datafolder.Check(d.Data); err != nil {
			return err
		}
	}
	return d.with(ctx, c, f)
}

// with calls f with the service, which can only do keys if it is on AWS.
func (d deploymentFlags) with(ctx context.Context, c base.Config, f func(*service.Service) error) error {
	if d.Table != nil {
		store, err := openTable(ctx, *d.Table)
		if err != nil {
			return err
		}
		service, err := service.New(c, base.Ports{Store: store.Store})
		if err != nil {
			return err
		}
		return f(service)
	}
	folder, err := datafolder.Open(ctx, d.Data, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	service, err := service.New(c, folder.Ports())
	if err == nil {
		err = f(service)
	}
	return errors.Join(err, folder.Close())
}

// openTable says what is missing before the first call does in many words.
func openTable(ctx context.Context, table string) (*dynamodb.Store, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	if cfg.Region == "" {
		return nil, errors.New("no AWS region is set: try AWS_REGION")
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return nil, fmt.Errorf("no AWS credentials are at hand: %w", err)
	}
	awsclient.KeepAnswers(&cfg)
	return dynamodb.New(cfg, table), nil
}

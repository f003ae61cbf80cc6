package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/alecthomas/kong"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/google/uuid"

	"lipsync/internal/dynamodb"
	"lipsync/internal/lipsync"
	"lipsync/internal/settings"
)

// homeFlags say whose keys a command is about: those of a data folder, or of a
// table on AWS.
type homeFlags struct {
	dataFlag
	Table *string `placeholder:"NAME" help:"Table of a service on AWS, instead of a data folder. Region and credentials are those that the AWS CLI would use."`
}

// AfterApply refuses a data folder together with a table. The data folder's default doesn't count, and neither does
// that of the environment.
func (h homeFlags) AfterApply(k *kong.Context) error {
	for _, p := range k.Path {
		if p.Flag != nil && !p.Resolved && p.Flag.Name == settings.Data.Name && h.Table != nil {
			return fmt.Errorf("%s and --table can't be used together", settings.Data.Flag())
		}
	}
	return nil
}

// String names the data folder or the table, for people.
func (h homeFlags) String() string {
	if h.Table != nil {
		return "the table " + *h.Table
	}
	return "the data folder " + h.Data
}

// withKept calls f with the service of a data folder or table that exists: it makes no data folder.
func (h homeFlags) withKept(ctx context.Context, f func(*lipsync.Service) error) error {
	if h.Table == nil {
		if err := checkData(h.Data); err != nil {
			return err
		}
	}
	return h.with(ctx, f)
}

// with calls f with the service, which can only do keys if it is on AWS.
func (h homeFlags) with(ctx context.Context, f func(*lipsync.Service) error) error {
	if h.Table != nil {
		service, err := openTable(ctx, *h.Table)
		if err != nil {
			return err
		}
		return f(service)
	}
	folder, err := openData(ctx, h.Data, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(f(folder.service), folder.close())
}

// openTable says what is missing before the first call does in many words.
func openTable(ctx context.Context, table string) (*lipsync.Service, error) {
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
	return &lipsync.Service{
		Store: dynamodb.New(cfg, table).Store, Now: time.Now, NewID: uuid.NewString, Random: rand.Reader,
	}, nil
}

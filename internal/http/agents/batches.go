package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/http/client"
)

// fewLines is the number of lines of a batch that get_batch returns if the call names no other, so that they don't fill an assistant's context.
const fewLines = 50

type variantInput struct {
	Video string `json:"video,omitempty" jsonschema:"the video, if it isn't that of the batch"`
	Audio string `json:"audio" jsonschema:"the speech track"`
	client.Choices
}

type batchInput struct {
	Video          string         `json:"video,omitempty" jsonschema:"the video of all variants that name none"`
	Variants       []variantInput `json:"variants" jsonschema:"one for each request, 1000 at most"`
	DryRun         bool           `json:"dry_run,omitempty" jsonschema:"only check the variants, and make no request and no upload"`
	IdempotencyKey string         `json:"idempotency_key,omitempty" jsonschema:"any text, such as a UUID; the same key with the same input never makes a second batch"`
}

func (t *tools) createBatch(ctx context.Context, r *mcp.CallToolRequest, in batchInput) (map[string]any, error) {
	if n := len(in.Variants); n < 1 || n > lipsync.MostLines { // before files are uploaded
		return nil, fmt.Errorf("a batch has 1 to %d lines", lipsync.MostLines)
	}
	c := t.client(r)
	b, err := t.batch(ctx, c, r, in)
	if err != nil {
		return nil, err
	}
	key := cmp.Or(in.IdempotencyKey, t.NewID())
	answer, err := readBatch(c.CreateBatch(ctx, b, key))
	if err != nil || in.DryRun {
		return answer, err
	}
	delete(answer, "lines")
	answer["idempotency_key"] = key
	answer["next"] = "call get_batch with this id and wait_seconds 50; don't call create_batch again for the same jobs"
	return answer, nil
}

// unsent stands for the URL of an upload in a dry run.
const unsent = "https://upload.invalid/"

// batch returns the batch of the input, after it has uploaded the files that the input names. In a dry run it only checks that the files are there.
func (t *tools) batch(ctx context.Context, c *client.Client, r *mcp.CallToolRequest, in batchInput) (b client.Batch, err error) {
	place := func(kind failure.MediaKind, from string) (to string) {
		switch {
		case err != nil || from == "":
		case in.DryRun && t.local(from):
			to = unsent
			_, err = stat(from)
		default:
			to, err = t.place(ctx, c, r, client.Input{Type: kind, URL: from})
		}
		return to
	}
	b.DryRun, b.Video = in.DryRun, place(failure.Video, in.Video)
	for _, v := range in.Variants {
		b.Variants = append(b.Variants, client.Variant{
			Video: place(failure.Video, v.Video), Audio: place(failure.Audio, v.Audio), Choices: v.Choices,
		})
	}
	return b, err
}

type getBatchInput struct {
	ID          string `json:"id" jsonschema:"the id of the batch"`
	WaitSeconds int    `json:"wait_seconds,omitempty" jsonschema:"how long to wait for the end, from 0 to 50 seconds"`
	Limit       int    `json:"limit,omitempty" jsonschema:"the number of lines, from 1 to 1000; 50 by default"`
	Offset      int    `json:"offset,omitempty" jsonschema:"the number of lines to skip"`
}

// getBatch reads a batch with some of its lines, and waits for its end.
func (t *tools) getBatch(ctx context.Context, r *mcp.CallToolRequest, in getBatchInput) (any, error) {
	left, err := t.patience(in.WaitSeconds)
	switch {
	case err != nil:
		return nil, err
	case in.Limit < 0 || in.Limit > lipsync.MostLines:
		return nil, errors.New("limit must be from 1 to 1000")
	case in.Offset < 0:
		return nil, errors.New("offset must be 0 or more")
	}
	answer, err := t.await(ctx, t.client(r).Batch, in.ID, left)
	if err != nil {
		return nil, err
	}
	if lines, ok := answer["lines"].([]any); ok {
		first := min(in.Offset, len(lines))
		answer["lines"] = lines[first:min(first+cmp.Or(in.Limit, fewLines), len(lines))]
	}
	return answer, nil
}

type cancelBatchInput struct {
	ID string `json:"id" jsonschema:"the id of the batch"`
}

func (t *tools) cancelBatch(ctx context.Context, r *mcp.CallToolRequest, in cancelBatchInput) (map[string]any, error) {
	answer, err := readBatch(t.client(r).CancelBatch(ctx, in.ID))
	delete(answer, "lines")
	return answer, err
}

// readBatch decodes an answer about a batch.
func readBatch(text json.RawMessage, err error) (answer map[string]any, _ error) {
	if err != nil {
		return nil, err
	}
	return answer, json.Unmarshal(text, &answer)
}

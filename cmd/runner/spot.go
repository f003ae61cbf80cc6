package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

const (
	// noticeEvery is the time between two checks for a notice that AWS reclaims the machine. AWS
	// recommends this interval.
	noticeEvery = 5 * time.Second
	// noticeTime is the time from a notice to the end of the machine.
	noticeTime = 2 * time.Minute
	// noticeMargin is the part of that time that is kept for releasing the request.
	noticeMargin = 15 * time.Second
)

// untilReclaimed returns two contexts. When AWS announces that it reclaims this machine, which it
// does with Spot instances, begin ends at once, and work ends shortly before the machine does.
func untilReclaimed(ctx context.Context, metadata *imds.Client, log *slog.Logger) (work, begin context.Context, stop func()) {
	work, stop = context.WithCancel(ctx)
	begin, beginNone := context.WithCancel(work)
	go func() {
		end, ok := awaitNotice(work, metadata, log)
		if !ok {
			return
		}
		log.Info("this machine is reclaimed", "at", end)
		beginNone()
		select {
		case <-work.Done():
		case <-time.After(time.Until(end) - noticeMargin):
			stop()
		}
	}()
	return work, begin, stop
}

// awaitNotice waits for a notice, and returns the time at which the machine ends. It returns false
// once ctx has ended. Without a metadata service there is never a notice.
func awaitNotice(ctx context.Context, metadata *imds.Client, log *slog.Logger) (end time.Time, ok bool) {
	var silent bool
	for {
		end, err := readNotice(ctx, metadata)
		var answer *smithyhttp.ResponseError
		switch {
		case err == nil:
			return end, true
		case errors.As(err, &answer) && answer.HTTPStatusCode() == http.StatusNotFound: // no notice
		case !silent && ctx.Err() == nil:
			silent = true
			log.Warn("check for a notice of reclaiming", "error", err)
		}
		select {
		case <-ctx.Done():
			return time.Time{}, false
		case <-time.After(noticeEvery):
		}
	}
}

// readNotice reads the notice, and returns the time at which the machine ends.
func readNotice(ctx context.Context, metadata *imds.Client) (end time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, noticeEvery)
	defer cancel()
	answer, err := metadata.GetMetadata(ctx, &imds.GetMetadataInput{Path: "spot/instance-action"})
	if err != nil {
		return time.Time{}, err
	}
	defer answer.Content.Close()
	var notice struct{ Time time.Time }
	if json.NewDecoder(answer.Content).Decode(&notice) != nil || notice.Time.IsZero() {
		return time.Now().Add(noticeTime), nil // a notice in any other form still is a notice
	}
	return notice.Time, nil
}

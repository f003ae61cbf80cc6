package service

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// maxAnalysis is the largest size of an analysis or an estimate, in bytes. On AWS an answer may have 6 MB.
const maxAnalysis = 4 << 20

// Analysis returns the caller's request for an Analysis. The Analysis is nil unless the request is
// completed and the Analysis is still kept. Analysis returns NotFound for requests of other accounts.
func (s *Service) Analysis(ctx context.Context, c lipsync.Caller, id string) (lipsync.Request, *order.Analysis, error) {
	r, err := s.findAnalysis(ctx, c, id)
	if err != nil {
		return r, nil, err
	}
	a := new(order.Analysis)
	if kept, err := s.readOutput(ctx, r, a); !kept {
		return r, nil, err
	}
	return r, a, nil
}

// DeleteAnalysis deletes the Analysis of the caller's request, and cancels a request that is not finished.
// The record stays. DeleteAnalysis returns NotFound for requests of other accounts. It may be repeated.
func (s *Service) DeleteAnalysis(ctx context.Context, c lipsync.Caller, id string) (lipsync.Request, error) {
	r, err := s.findAnalysis(ctx, c, id)
	if err == nil && !r.Status.Final() {
		_, err = s.CancelByID(ctx, r.ID)
		if failure.CodeOf(err) == failure.Finished { // just now
			err = nil
		}
		if err == nil {
			r, err = s.findAnalysis(ctx, c, id)
		}
	}
	if err != nil {
		return lipsync.Request{}, err
	}
	return s.forget(context.WithoutCancel(ctx), r) // also if the client hangs up
}

// findAnalysis returns the caller's request for an Analysis, or NotFound.
func (s *Service) findAnalysis(ctx context.Context, c lipsync.Caller, id string) (lipsync.Request, error) {
	return s.findOf(ctx, c.Account, lipsync.ToAnalyze, id, "analysis not found")
}

// findOf returns the account's request of the kind with the id, or NotFound with the message.
func (s *Service) findOf(ctx context.Context, account string, kind lipsync.Kind, id, missing string) (lipsync.Request, error) {
	id, ok := lipsync.ParseID(id)
	if !ok {
		return lipsync.Request{}, failure.New(failure.NotFound, missing)
	}
	r, err := s.Store.Requests.ByID(ctx, id)
	if failure.CodeOf(err) == failure.NotFound || err == nil && (r.Account != account || r.Kind != kind) {
		return lipsync.Request{}, failure.New(failure.NotFound, missing)
	}
	return r, err
}

// readOutput reads the output of a request into v, if the request is completed and the output is still kept.
func (s *Service) readOutput(ctx context.Context, r lipsync.Request, v any) (kept bool, err error) {
	if r.Output == "" || !s.Now().Before(s.OutputExpires(r)) {
		return false, nil
	}
	err = s.readJSON(ctx, r.Output, v)
	return err == nil, failure.Unless(failure.NotFound, err) // NotFound: it is being deleted
}

// readJSON reads an output in JSON into v.
func (s *Service) readJSON(ctx context.Context, key string, v any) error {
	object, size, err := s.Objects.Open(ctx, key)
	if err != nil {
		return err
	}
	defer object.Close()
	text, err := io.ReadAll(io.LimitReader(object, maxAnalysis))
	if err == nil && int64(len(text)) != size {
		err = fmt.Errorf("read %d of %d bytes", len(text), size)
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	return nil
}

// CompleteAnalysis stores the Analysis of a claimed request, and makes the request completed; see Complete.
func (w *Work) CompleteAnalysis(ctx context.Context, r lipsync.Request, a order.Analysis) error {
	return w.completeJSON(ctx, r, a)
}

// completeJSON stores v in JSON as the output of a claimed request, and makes the request completed; see Complete.
func (w *Work) completeJSON(ctx context.Context, r lipsync.Request, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(text) > maxAnalysis {
		return fmt.Errorf("an output of %d bytes in JSON, more than %d", len(text), maxAnalysis)
	}
	return w.Complete(ctx, r, bytes.NewReader(text), int64(len(text)))
}

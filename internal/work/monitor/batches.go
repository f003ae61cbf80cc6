package monitor

import (
	"context"
	"time"

	"lipsync/internal/domain/lipsync"
)

// batches implements lipsync.Batches.
type batches struct {
	lipsync.Batches
	m *Monitor
}

var _ lipsync.Batches = (*batches)(nil)

func (s batches) Create(ctx context.Context, b lipsync.Batch, limits lipsync.Limits) (err error) {
	defer s.m.observe(ctx, "create_batch", time.Now(), &err)
	return s.Batches.Create(ctx, b, limits)
}

func (s batches) ByID(ctx context.Context, id string) (_ lipsync.Batch, err error) {
	defer s.m.observe(ctx, "batch", time.Now(), &err)
	return s.Batches.ByID(ctx, id)
}

func (s batches) Swap(ctx context.Context, b lipsync.Batch) (err error) {
	defer s.m.observe(ctx, "swap_batch", time.Now(), &err)
	return s.Batches.Swap(ctx, b)
}

func (s batches) List(ctx context.Context, account string, before lipsync.Batch, limit int) (_ []lipsync.Batch, err error) {
	defer s.m.observe(ctx, "list_batches", time.Now(), &err)
	return s.Batches.List(ctx, account, before, limit)
}

func (s batches) Unfinished(ctx context.Context, after lipsync.Batch, limit int) (_ []lipsync.Batch, err error) {
	defer s.m.observe(ctx, "unfinished_batches", time.Now(), &err)
	return s.Batches.Unfinished(ctx, after, limit)
}

func (s batches) Count(ctx context.Context, account string) (_ int, err error) {
	defer s.m.observe(ctx, "count_batches", time.Now(), &err)
	return s.Batches.Count(ctx, account)
}

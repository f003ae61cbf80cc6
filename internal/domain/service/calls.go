package service

import (
	"context"
	"time"

	"lipsync/internal/domain/lipsync"
)

// noteTime is the longest time that NoteCall takes. On Lambda the answer waits for it, since a function does nothing after its answer; a write takes some
// 10 ms.
const noteTime = 200 * time.Millisecond

// NoteCall keeps a call of the account, if it is Noted. If it can't be kept in time, that is logged and counted, and does no other harm.
func (s *Service) NoteCall(ctx context.Context, account string, c lipsync.Call) {
	if account == "" || !c.Noted() {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer stop()
	if err := s.Store.Calls.Note(ctx, account, c); err != nil {
		s.Log.WarnContext(ctx, "a call isn't noted", "call", c.ID, "error", err)
		s.Watcher.CallNotNoted()
	}
}

// Calls returns the account's calls of the last day that are Noted, newest first.
func (s *Service) Calls(ctx context.Context, c lipsync.Caller) ([]lipsync.Call, error) {
	return s.Store.Calls.List(ctx, c.Account, s.Now())
}

package service_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/check"
	"lipsync/internal/test/lipsynctest"
)

// silentCalls is a store that answers no note of a call.
type silentCalls struct{ lipsync.Calls }

func (silentCalls) Note(ctx context.Context, _ string, _ lipsync.Call) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestNoteCallSlow notes calls in a store that doesn't answer. The calls' answers wait for a fifth of a second only, and it is told that one isn't noted.
func TestNoteCallSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		told := new(watcher)
		s := lipsynctest.NewService(t, base.Config{}, base.Ports{
			Store: lipsync.Store{Calls: silentCalls{}}, Watcher: told, Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		began := time.Now()
		s.NoteCall(t.Context(), "a", lipsync.Call{ID: "read", Method: "GET", Status: 200})
		s.NoteCall(t.Context(), "a", lipsync.Call{ID: "the call", Method: "POST", Status: 200})
		check.Want(t, "wait", time.Since(began), 200*time.Millisecond)
		told.want(t, "call not noted")
		if !strings.Contains(log.String(), `a call isn't noted`) || !strings.Contains(log.String(), "the call") {
			t.Errorf("got the log %s", &log)
		}
	})
}

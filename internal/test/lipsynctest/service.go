package lipsynctest

import (
	"testing"

	"lipsync/internal/domain/lipsync"
)

// NewService returns a service. The test fails if lipsync.New does.
func NewService(t testing.TB, c lipsync.Config, p lipsync.Ports) *lipsync.Service {
	t.Helper()
	s, err := lipsync.New(c, p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

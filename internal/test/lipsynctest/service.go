package lipsynctest

import (
	"testing"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
)

// NewService returns a service. The test fails if service.New does.
func NewService(t testing.TB, c lipsync.Config, p lipsync.Ports) *service.Service {
	t.Helper()
	s, err := service.New(c, p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

package lipsynctest

import (
	"testing"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/service"
)

// NewService returns a service. The test fails if service.New does.
func NewService(t testing.TB, c base.Config, p base.Ports) *service.Service {
	t.Helper()
	s, err := service.New(c, p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

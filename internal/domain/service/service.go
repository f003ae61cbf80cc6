// Package service is the lip sync service as its callers see it: requests, webhooks and batches, and besides them keys,
// answers, sweeps, and the workers of the pool.
//
// Its user provides time, ids and randomness. The caller is an explicit argument.
package service

import (
	"lipsync/internal/domain/base"
	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/webhooks"
)

// Service holds every business rule. All methods are safe for concurrent use.
type Service struct {
	*base.Base
	*requestService
	*webhookService
	*batchService
	*Work
}

// The parts of a Service. Their callers see one Service.
type (
	requestService = requests.Service
	webhookService = webhooks.Service
	batchService   = batches.Service
)

// New returns a service. Its errors are those of base.New.
func New(c base.Config, p base.Ports) (*Service, error) {
	b, err := base.New(c, p)
	if err != nil {
		return nil, err
	}
	r := requests.New(b)
	s := &Service{Base: b, requestService: r, webhookService: webhooks.New(b), batchService: batches.New(r)}
	s.Work = NewWork(b, s)
	return s, nil
}

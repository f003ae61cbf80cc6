package lipsync

// Service holds every business rule. All methods are safe for concurrent use.
type Service struct {
	*Base
	*requestService
	*webhookService
	*batchService
}

// The parts of a Service. Their callers see one Service.
type (
	requestService = RequestService
	webhookService = WebhookService
	batchService   = BatchService
)

// New returns a service. It returns an error if the values of the Config make no sense, or if a port is missing that
// another one needs.
func New(c Config, p Ports) (*Service, error) {
	b, err := NewBase(c, p)
	if err != nil {
		return nil, err
	}
	r := NewRequestService(b)
	return &Service{b, r, NewWebhookService(b), NewBatchService(r)}, nil
}

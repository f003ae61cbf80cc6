package rest

import (
	"net/http"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

type model struct {
	Name    string `json:"name"`
	Default bool   `json:"default"`
	Needs   string `json:"needs,omitempty"`
	Minute  int    `json:"seconds_per_minute,omitempty"`
}

// listModels returns the models that requests may name, the default first.
func (a *api) listModels(r *http.Request, _ lipsync.Caller) (list[model], error) {
	minutes, err := a.service.Minutes(r.Context())
	all := list[model]{make([]model, len(a.service.Engines))}
	for i, name := range a.service.Engines {
		all.Data[i] = model{name, i == 0, order.EngineNeeds(name), expected(minutes[name])}
	}
	return all, err
}

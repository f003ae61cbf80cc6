package rest

import (
	"net/http"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// modelList has the models that requests may name, the default first.
type modelList struct {
	Data []model `json:"data"`
}

type model struct {
	Name    string `json:"name"`
	Default bool   `json:"default"`
	Needs   string `json:"needs,omitempty"`
	Minute  int    `json:"seconds_per_minute,omitempty"`
}

func (a *api) listModels(r *http.Request, _ lipsync.Caller) (modelList, error) {
	minutes, err := a.service.Minutes(r.Context())
	if err != nil {
		return modelList{}, err
	}
	list := modelList{Data: make([]model, len(a.service.Engines))}
	for i, name := range a.service.Engines {
		list.Data[i] = model{name, i == 0, order.EngineNeeds(name), expected(minutes[name])}
	}
	return list, nil
}

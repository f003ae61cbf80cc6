package rest

import (
	"net/http"

	"lipsync/internal/domain/lipsync"
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

// needed says, for people, what the service needs for a model.
var needed = map[string]string{
	"wav2lip":  "a network of the operator; it is fast on an NVIDIA GPU",
	"musetalk": "four networks of the operator, and an NVIDIA GPU",
}

func (a *api) listModels(r *http.Request, _ lipsync.Caller) (modelList, error) {
	minutes, err := a.service.Minutes(r.Context())
	if err != nil {
		return modelList{}, err
	}
	list := modelList{Data: make([]model, len(a.service.Engines))}
	for i, name := range a.service.Engines {
		list.Data[i] = model{name, i == 0, needed[name], expected(minutes[name])}
	}
	return list, nil
}

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
}

func (a *api) listModels(*http.Request, lipsync.Caller) (modelList, error) {
	list := modelList{Data: make([]model, len(a.service.Engines))}
	for i, name := range a.service.Engines {
		list.Data[i] = model{Name: name, Default: i == 0}
	}
	return list, nil
}

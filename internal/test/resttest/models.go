package resttest

import (
	"testing"

	"lipsync/internal/domain/order"
)

// models checks that a request can name each model of the list, that the first is the default, and what each needs.
func (s *suite) models(t *testing.T) {
	token := s.key(t)
	var list struct {
		Data []struct {
			Name    string `json:"name"`
			Default bool   `json:"default"`
			Needs   string `json:"needs"`
			Minute  int    `json:"seconds_per_minute"`
		} `json:"data"`
	}
	s.get(t, token, "/v1/models").into(t, &list)
	if len(list.Data) == 0 {
		t.Fatal("got no model")
	}
	for i, m := range list.Data {
		if m.Default != (i == 0) {
			t.Errorf("model %d of %+v: got default %t", i, list.Data, m.Default)
		}
		if m.Needs != order.EngineNeeds(m.Name) || m.Minute < 0 {
			t.Errorf("model %d of %+v: got needs %q, and %d s for a minute", i, list.Data, m.Needs, m.Minute)
		}
		id := s.start(t, token, `"model":`+quote(m.Name))
		if got := s.readDetails(t, token, id).Engine; got != m.Name {
			t.Errorf("asked for %q: got engine %q", m.Name, got)
		}
	}
	id := s.start(t, token)
	if got := s.readDetails(t, token, id).Engine; got != list.Data[0].Name {
		t.Errorf("asked for none: got engine %q, want the default %q", got, list.Data[0].Name)
	}
}

package engines

import (
	"context"
	"slices"

	"lipsync/internal/network/catalog"
	"lipsync/internal/render/musetalk"
)

// parts are the networks of the engine musetalk, until it is opened.
type parts struct {
	parts map[catalog.Role]*musetalk.Part
	ends  []func() error // functions that close their sessions
}

func isMuseTalk(role catalog.Role) bool { return slices.Contains(musetalk.Roles(), role) }

// Incomplete returns an error if there are models of some of the roles that the engine musetalk needs, and not of all.
func Incomplete(models *catalog.Catalog) error {
	missing := slices.DeleteFunc(musetalk.Roles(), func(role catalog.Role) bool {
		_, ok := models.Find(role)
		return ok
	})
	if n := len(missing); n == 0 || n == len(musetalk.Roles()) {
		return nil
	}
	return musetalk.Missing(missing...)
}

// missMuseTalk logs why there is no engine musetalk.
func (s *Set) missMuseTalk(why error) {
	s.log.Error("the engine musetalk cannot be used", "error", why)
	s.miss(catalog.MuseTalk, why)
}

// openMuseTalk makes the engine of its parts, if there are any. If one can't be used, the others are closed, since they take
// gigabytes.
func (s *Set) openMuseTalk(ctx context.Context) {
	all := s.muse
	s.muse = parts{}
	if s.Engines["musetalk"] == nil && len(all.parts) > 0 {
		ctx, cancel := context.WithTimeout(ctx, tryTime)
		defer cancel()
		engine, err := musetalk.New(ctx, all.parts, s.log)
		if err == nil {
			s.Engines["musetalk"] = engine
			s.networks = append(append(s.networks, engine.Close), all.ends...)
			return
		}
		s.missMuseTalk(err)
	}
	for _, end := range all.ends {
		if err := end(); err != nil {
			s.log.Error("a model of musetalk cannot be closed", "error", err)
		}
	}
}

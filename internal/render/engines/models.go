package engines

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"lipsync/internal/face/detection"
	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/musetalk"
	"lipsync/internal/render/wav2lip"
	"lipsync/internal/sound/speaker"
)

// tryTime is the longest time of the first run of a network. Most take less than a
// second, but TensorRT first compiles the network.
const tryTime = 10 * time.Minute

// tryCPU is the longest time of the first runs of a network on the CPU while somebody
// waits for the answer. In jobs so slow a network would take hours.
var tryCPU = 15 * time.Second

// museTalkTimes is how many times as long a network of musetalk may take. Of full size a decoder takes 6 s on an idle CPU, and
// some times that on a busy one.
const museTalkTimes = 4

// Try returns an error unless a network can be used in a role.
func Try(ctx context.Context, role catalog.Role, session *onnx.Session) error {
	s, err := bare(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if session.Provider() != onnx.CPU {
		return errors.Join(s.use(ctx, role, session), s.Close())
	}
	longest := tryCPU
	if isMuseTalk(role) {
		longest *= museTalkTimes
	}
	bounded, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	err = s.use(bounded, role, session)
	if bounded.Err() != nil && ctx.Err() == nil && err != nil {
		err = fmt.Errorf("the network did not end within %v", longest)
	}
	return errors.Join(err, s.Close())
}

// addAll adds the folder's models.
func (s *Set) addAll(ctx context.Context, o Options) {
	models, err := catalog.Read(o.Models)
	if err != nil {
		s.log.Error("no model can be used", "error", err)
		s.miss(catalog.Wav2Lip, err) // its model may be in the folder
		s.miss(catalog.MuseTalk, err)
		return
	}
	runtime, err := onnx.Open(o.Library)
	if err != nil && len(models.Models) > 0 {
		s.log.Error("no model can be used", "error", err)
		for _, m := range models.Models {
			s.miss(m.Role, err)
		}
		return
	}
	onCPU := slices.Equal(o.Providers, []onnx.Provider{onnx.CPU})
	if err := onnx.CheckDriver(); err != nil && !onCPU && len(models.Models) > 0 {
		s.log.Warn("no network can run on the GPU", "error", err)
	}
	if err := Incomplete(models); err != nil {
		s.missMuseTalk(err)
	}
	for _, m := range models.Models {
		if isMuseTalk(m.Role) && s.Engines["musetalk"] != nil {
			continue // another is missing or can't be used, and one of them takes gigabytes
		}
		log := s.log.With("role", m.Role, "file", m.File)
		provider, err := s.add(ctx, m, runtime, o)
		if err == nil {
			s.models += fmt.Sprintf(", %s %s on %s", m.Role, m.SHA256, provider)
		}
		switch {
		case err != nil:
			log.Error("a model cannot be used", "error", err)
			s.Lacks = true
			s.miss(m.Role, err)
		case len(o.Providers) > 0 && provider != o.Providers[0]:
			log.Warn("a model runs on another provider than was asked for", "provider", provider, "asked", o.Providers[0])
		default:
			log.Info("a model is ready", "provider", provider)
		}
	}
	s.openMuseTalk(ctx)
}

// miss makes jobs for the engine of a role fail with an error: the reason why its model
// can't be used.
func (s *Set) miss(role catalog.Role, why error) {
	switch {
	case role == catalog.Wav2Lip:
		s.Engines["wav2lip"] = unusable{why}
	case isMuseTalk(role) && s.Engines["musetalk"] == nil:
		s.Engines["musetalk"] = unusable{why}
	}
}

// unusable is an engine whose model exists but can't be used. The job is not at fault:
// another machine may do it, or this machine with another model.
type unusable struct{ error }

var _ engine.Engine = (*unusable)(nil)

func (u unusable) Analyse(engine.Video) (engine.Analyser, error) { return nil, u.error }

func (u unusable) Workers() int { return 1 }

func (u unusable) Articulates() bool { return false }

// add loads a model and uses it. It returns the provider that computes it.
func (s *Set) add(ctx context.Context, m catalog.Model, runtime *onnx.Runtime, o Options) (onnx.Provider, error) {
	var sessions []*onnx.Session
	closeAll := func() (err error) {
		for _, session := range sessions {
			err = errors.Join(err, session.Close())
		}
		return err
	}
	for wanted := 1; len(sessions) < wanted; {
		session, err := m.Load(runtime, onnx.Options{Providers: o.Providers, Threads: Threads(m.Role), EngineCache: filepath.Join(o.Models, "tensorrt")})
		if err != nil {
			return "", errors.Join(err, closeAll())
		}
		sessions = append(sessions, session)
		if p := session.Provider(); p != sessions[0].Provider() { // the GPU has no memory for another: all run where this one does
			if err := closeAll(); err != nil {
				return "", err
			}
			o.Providers = []onnx.Provider{p}
			return s.add(ctx, m, runtime, o)
		}
		switch m.Role {
		case catalog.ActiveSpeaker:
			wanted = speaker.Sessions(session.Provider())
		case catalog.FaceLandmarks:
			wanted = detection.Sessions(session.Provider())
		}
	}
	if err := s.use(ctx, m.Role, sessions...); err != nil {
		return "", errors.Join(err, closeAll())
	}
	if isMuseTalk(m.Role) {
		s.muse.ends = append(s.muse.ends, closeAll)
	} else {
		s.networks = append(s.networks, closeAll)
	}
	return sessions[0].Provider(), nil
}

// Threads returns the best onnx.Options.Threads for the network of a role.
func Threads(role catalog.Role) int {
	switch role {
	case catalog.Wav2Lip:
		return wav2lip.Threads()
	case catalog.FaceLandmarks:
		return 1 // its layers are small: threads would wait for each other longer than they compute
	}
	return 0
}

// use makes the set use the network of sessions in a role. Most have one session. It returns an error if
// the network doesn't fit the role.
func (s *Set) use(ctx context.Context, role catalog.Role, sessions ...*onnx.Session) error {
	session := sessions[0]
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	switch role {
	case catalog.FaceDetector:
		return s.detect(ctx, session, s.landmarks)
	case catalog.FaceLandmarks:
		return s.detect(ctx, s.detector, sessions)
	case catalog.ActiveSpeaker:
		network, err := speaker.NewNetwork(ctx, sessions, s.log)
		if err != nil {
			return err
		}
		s.Speaker, s.networks = network, append(s.networks, network.Close)
		return nil
	case catalog.Wav2Lip:
		engine, err := wav2lip.New(ctx, session, s.log)
		if err != nil {
			return err
		}
		s.Engines["wav2lip"] = engine
		s.networks = append(s.networks, engine.Close)
		return nil
	case catalog.MuseTalk, catalog.MuseTalkHearing, catalog.MuseTalkEncoder, catalog.MuseTalkDecoder:
		part, err := musetalk.NewPart(ctx, role, session)
		if err != nil {
			return err
		}
		s.muse.parts[role] = part
		return nil
	}
	return fmt.Errorf("there is no role %q", role)
}

// detect makes the set detect faces by these networks. Either may be missing.
func (s *Set) detect(ctx context.Context, boxes *onnx.Session, landmarks []*onnx.Session) error {
	faces, err := detection.New(ctx, s.log, boxes, landmarks...)
	if err != nil {
		return err
	}
	former := s.faces
	s.faces, s.detector, s.landmarks = faces, boxes, landmarks
	return former.Close()
}

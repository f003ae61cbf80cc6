// Package studio sets rendering up on one machine: the engines, and what finds
// faces and tells who speaks. Each network is loaded once, for all jobs; what has
// no model is done without one.
package studio

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lipsync/internal/face"
	"lipsync/internal/ffmpeg"
	"lipsync/internal/onnx"
	"lipsync/internal/render"
	"lipsync/internal/speaker"
	"lipsync/internal/warp"
	"lipsync/internal/wav2lip"
)

// Options are what there is to render with.
type Options struct {
	Tools   *ffmpeg.Tools
	Limits  render.Limits
	Cores   int    // that one job uses, at least 1
	Models  string // the folder of models; "" for none
	Library string // ONNX Runtime; "" for the usual places
}

// Studio renders any number of jobs at once.
type Studio struct {
	*render.Renderer
	catalog  *onnx.Catalog
	runtime  *onnx.Runtime
	closings []func() error // what to close, in the order in which it was opened
}

// Open loads the models. What is wrong with one is an error in a sentence.
func Open(o Options) (*Studio, error) {
	s := &Studio{catalog: &onnx.Catalog{}, Renderer: &render.Renderer{
		Tools: o.Tools, Limits: o.Limits,
		Engines: map[string]render.Engine{"warp": warp.Engine{Cores: o.Cores}},
	}}
	if err := s.open(o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Studio) open(o Options) (err error) {
	if o.Models != "" {
		if s.catalog, err = onnx.ReadCatalog(o.Models); err != nil {
			return err
		}
	}
	if len(s.catalog.Models) > 0 {
		if s.runtime, err = onnx.Open(o.Library); err != nil {
			return err
		}
	}
	return errors.Join(s.addFaces(), s.addSpeaker(), s.addWav2Lip())
}

// Names are those of the engines, with the one first that is the default; it is
// an error if there is no such engine.
func (s *Studio) Names(first string) ([]string, error) {
	names := slices.Sorted(maps.Keys(s.Engines))
	i := slices.Index(names, first)
	if i < 0 {
		return nil, fmt.Errorf("there is no engine %s: add its model with lipsync models add %[1]s FILE", first)
	}
	return append([]string{first}, slices.Delete(names, i, i+1)...), nil
}

// Close frees the models, once no job runs.
func (s *Studio) Close() error {
	var err error
	for i := len(s.closings) - 1; i >= 0; i-- {
		err = errors.Join(err, s.closings[i]())
	}
	return err
}

func (s *Studio) addFaces() error {
	detector, err := s.load(onnx.FaceDetector)
	if err != nil {
		return err
	}
	landmarks, err := s.load(onnx.FaceLandmarks)
	if err != nil {
		return err
	}
	finder, err := face.NewFinder(context.Background(), detector, landmarks)
	if err != nil {
		return err
	}
	s.closings = append(s.closings, finder.Close)
	s.NewTracker = func() (render.Tracker, error) { return face.NewTracker(finder), nil }
	return nil
}

func (s *Studio) addSpeaker() error {
	session, err := s.load(onnx.ActiveSpeaker)
	if session == nil {
		return err
	}
	s.Speaker, err = speaker.NewNetwork(session)
	return err
}

func (s *Studio) addWav2Lip() error {
	session, err := s.load(onnx.Wav2Lip)
	if session == nil {
		return err
	}
	engine, err := wav2lip.New(context.Background(), session, wav2lip.Options{})
	if err != nil {
		return err
	}
	s.closings = append(s.closings, engine.Close)
	s.Engines["wav2lip"] = engine
	return nil
}

// load returns the network of a role, nil if there is none.
func (s *Studio) load(role onnx.Role) (*onnx.Session, error) {
	model, ok := s.catalog.Find(role)
	if !ok {
		return nil, nil
	}
	session, err := model.Load(s.runtime, onnx.Options{})
	if err != nil {
		return nil, err
	}
	s.closings = append(s.closings, session.Close)
	return session, nil
}

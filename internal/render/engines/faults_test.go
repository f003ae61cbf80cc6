package engines_test

import (
	"bytes"
	"context"
	"image"
	"path/filepath"
	"slices"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/render"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/engines"
	"lipsync/internal/sound/speech"
	"lipsync/internal/test/check"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/sharedtest"
)

// faulty is an engine that makes the mouths of another speech, and none in some frames.
type faulty struct {
	engine.Engine
	said  func([]speech.Articulation) []speech.Articulation
	keeps func(output int) bool
}

// faultyAnalyser is the Analyser of faulty.
type faultyAnalyser struct {
	engine.Serial
	faulty
}

// faultyPainter is the Painter of faulty.
type faultyPainter struct {
	engine.Painter
	faulty
}

func (f faulty) Analyse(v engine.Video) (engine.Analyser, error) {
	a, err := f.Engine.Analyse(v)
	return faultyAnalyser{a.(engine.Serial), f}, err
}

func (a faultyAnalyser) Plan(ctx context.Context, out engine.Output) (engine.Painter, error) {
	out.Spoken = a.said(slices.Clone(out.Spoken))
	p, err := a.Serial.Plan(ctx, out)
	return faultyPainter{p, a.faulty}, err
}

func (p faultyPainter) Paint(ctx context.Context, output int, frame *image.YCbCr) ([]engine.Mouth, error) {
	if p.keeps(output) {
		return nil, nil
	}
	return p.Painter.Paint(ctx, output, frame)
}

// moved returns articulation that comes some frames later, or earlier.
func moved(a []speech.Articulation, by int) []speech.Articulation {
	out := make([]speech.Articulation, len(a))
	for i := range out {
		out[i] = speech.Rest
		if from := i - by; from >= 0 && from < len(a) {
			out[i] = a[from]
		}
	}
	return out
}

// held returns the same articulation in all frames.
func held(a speech.Articulation) func([]speech.Articulation) []speech.Articulation {
	return func(all []speech.Articulation) []speech.Articulation {
		for i := range all {
			all[i] = a
		}
		return all
	}
}

// part returns a part of a score.
type part func(order.SyncScore) order.Part

func closures(s order.SyncScore) order.Part { return s.Closures }
func vowels(s order.SyncScore) order.Part   { return s.Vowels }
func spoken(s order.SyncScore) order.Part   { return s.Spoken }

// TestPlantedFaults renders a drawn head with an engine that makes mistakes. The score must be high without mistakes, and tell each.
func TestPlantedFaults(t *testing.T) {
	testPlantedFaults(t, ffmpegtest.Head(t, 75), 0, false)
}

// TestPlantedFaults_long does the same with people, and a voice that says eleven m, b and p.
func TestPlantedFaults_long(t *testing.T) {
	for _, name := range []string{"man_suit.mp4", "child.mp4", "woman_earrings.mp4"} {
		t.Run(name, func(t *testing.T) { testPlantedFaults(t, sharedtest.Path(t, "media", "people", name), 2, true) })
	}
}

func testPlantedFaults(t *testing.T, video string, voice int, all bool) {
	s, _ := openWith(t, engines.Options{})
	path, _ := makeVoice(t, voice)
	_, samples := makeVoice(t, 3)
	other := articulationOf(t, samples, 25)
	warp, findings := s.Engines["warp"], memory{}
	same := func(a []speech.Articulation) []speech.Articulation { return a }
	none := func(int) bool { return false }
	for _, c := range []struct {
		name  string
		said  func([]speech.Articulation) []speech.Articulation
		keeps func(int) bool
		tells part    // the part that must tell the fault; nil: there is none
		most  float64 // largest score that is low enough
	}{
		{"good", same, none, nil, 1},
		{"held open", held(speech.Articulation{Opening: .7}), none, closures, .2},
		{"held shut", held(speech.Articulation{Closure: 1}), none, vowels, .2},
		{"no closures", func(a []speech.Articulation) []speech.Articulation {
			for i := range a {
				if a[i].Closure > 0 {
					a[i].Closure, a[i].Opening = 0, max(a[i].Opening, .3*(1-a[i].Silence))
				}
			}
			return a
		}, none, closures, .6},
		{"3 frames late", func(a []speech.Articulation) []speech.Articulation { return moved(a, 3) }, none, closures, .75},
		{"3 frames early", func(a []speech.Articulation) []speech.Articulation { return moved(a, -3) }, none, closures, .75},
		{"another voice", func(a []speech.Articulation) []speech.Articulation {
			copy(a, other)
			return a
		}, none, closures, .75},
		{"a second of three kept", same, func(output int) bool { return output%75 < 25 }, spoken, .75},
	} {
		if !all && (c.name == "held open" || c.name == "3 frames early") {
			continue // TestPlantedFaults_long has them
		}
		t.Run(c.name, func(t *testing.T) {
			s.Engines["warp"] = faulty{warp, c.said, c.keeps}
			scratch := t.TempDir()
			made, err := s.Render(t.Context(), render.Job{Video: video, Audio: path, Output: filepath.Join(scratch, "out.mp4"), Scratch: scratch, Engine: "warp", Findings: findings}, nil)
			if err != nil {
				t.Fatal(err)
			}
			score, known := made.Sync.Score()
			t.Logf("%g: %s %+v", score, made.Sync.Says(), made.Sync)
			if !known || made.Sync.Closures.All < 3 || c.tells == nil && (score < .8 || made.Sync.Vowels.All < 4) {
				t.Errorf("the score is %g of %+v", score, made.Sync)
			}
			if c.tells != nil {
				if p := c.tells(made.Sync); score > c.most || float64(p.Good) > c.most*float64(p.All) {
					t.Errorf("the score is %g of %+v, want at most %g", score, made.Sync, c.most)
				}
			}
		})
	}
}

// articulationOf returns the articulation of samples in each frame.
func articulationOf(t *testing.T, samples []byte, fps float64) []speech.Articulation {
	t.Helper()
	s, err := speech.Read(bytes.NewReader(samples), check.Scratch(t))
	check.Must(t, err)
	frames, err := s.ArticulationAt(fps, int(s.Seconds()*fps))
	check.Must(t, err)
	return frames
}

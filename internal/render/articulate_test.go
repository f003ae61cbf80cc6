package render

import (
	"testing"

	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/engine"
	"lipsync/internal/test/rendertest"
)

// mute is an engine that needs no articulation of the source.
type mute struct{ numberer }

func (m *mute) Analyse(engine.Video) (engine.Analyser, error) { return m, nil }

func (m *mute) Articulates() bool { return false }

// TestArticulation checks that an engine gets the articulation of each frame of the output and
// of the source, no matter which is longer, and none of the source if it needs none.
func TestArticulation(t *testing.T) {
	for _, c := range []struct {
		name          string
		audio         string // seconds
		source        int    // frames, of .04 s
		mute          bool
		spoken, heard int
	}{
		{"a longer speech", "2", 25, false, 50, 25},
		{"a longer video", "0.4", 25, false, 10, 10},
		{"not needed", "2", 25, true, 50, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &mute{}
			var engine engine.Engine = &m.numberer
			if c.mute {
				engine = m
			}
			clip := rendertest.Numbered(medium.Rate{Num: 25, Den: 1}, c.source)
			clip.Samples = rendertest.Tone(float64(c.source)/25, .1)
			video := clip.File(t, "a.mp4")
			if _, err := render(t, inMemory(t, engine), video, tone(t, c.audio)); err != nil {
				t.Fatal(err)
			}
			if s, h := len(m.out.Spoken), len(m.out.Heard); s != c.spoken || h != c.heard {
				t.Errorf("got the articulation of %d frames of the output and %d of the source, want %d and %d", s, h, c.spoken, c.heard)
			}
		})
	}
}

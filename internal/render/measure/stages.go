// Package measure measures the cost of jobs: the time of their stages, and memory.
package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render"
	"lipsync/internal/render/engine"
	"lipsync/internal/sound/speaker"
	"lipsync/internal/sound/speech"
)

// StageNames returns the names of the stages, in the order of a job.
func StageNames() []string {
	return []string{"decode", "track", "align", "analyse", "sound", "plan", "decode-again", "paint", "encode"}
}

// Times holds the time that each stage of a job takes by itself, for all frames.
type Times struct {
	Frames int
	Took   map[string]time.Duration // by the name of the stage
}

// Rate returns the frames per second of a stage that took the time for all frames.
func (t *Times) Rate(took time.Duration) float64 { return float64(t.Frames) / took.Seconds() }

// Slowest returns the time of the slowest stage.
func (t *Times) Slowest() (most time.Duration) {
	for _, took := range t.Took {
		most = max(most, took)
	}
	return most
}

// add adds the time that f takes to a stage.
func (t *Times) add(name string, f func() error) error {
	started := time.Now()
	err := f()
	t.Took[name] += time.Since(started)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// measurement is the measurement of one job.
type measurement struct {
	*Times
	renderer *render.Renderer
	engine   engine.Engine
	info     *medium.Info // of the video
	scratch  string       // folder
}

// Stages measures the stages of a job. It decodes some frames into memory, runs the stages
// of a pass on them one after the other, and goes on with the next frames. The output is as
// long as the video. The renderer's NewTracker must be set. Files are written to the folder
// scratch.
func Stages(ctx context.Context, r *render.Renderer, name, video, audio, scratch string) (*Times, error) {
	info, err := r.Media.Probe(ctx, video)
	if err != nil {
		return nil, err
	}
	m := &measurement{&Times{Took: map[string]time.Duration{}}, r, r.Engines[name], info, scratch}
	if m.engine == nil {
		return nil, fmt.Errorf("there is no engine %s", name)
	}
	v := info.Video
	own, err := os.Create(filepath.Join(scratch, "engine"))
	if err != nil {
		return nil, err
	}
	defer own.Close()
	analyser, err := m.engine.Analyse(engine.Video{Width: v.Width, Height: v.Height, FPS: v.Rate.Float(), Scratch: own})
	if err != nil {
		return nil, err
	}
	speakers := speaker.New(v.Rate.Float(), nil)
	if err := m.firstPass(ctx, analyser, speakers); err != nil {
		return nil, err
	}
	pcm, err := os.Create(filepath.Join(scratch, "audio.pcm"))
	if err != nil {
		return nil, err
	}
	defer pcm.Close()
	sound := filepath.Join(scratch, "audio.wav")
	var spoken []speech.Articulation
	var samples int64
	err = m.add("sound", func() (err error) {
		if samples, err = hear(ctx, r.Media, audio, sound, pcm); err != nil || !m.engine.Articulates() {
			return err
		}
		features, err := os.Create(filepath.Join(scratch, "features"))
		if err != nil {
			return err
		}
		defer features.Close()
		heard, err := speech.Read(io.NewSectionReader(pcm, 0, 2*samples), features)
		if err != nil {
			return err
		}
		spoken, err = heard.ArticulationAt(v.Rate.Float(), m.Frames)
		return err
	})
	if err != nil {
		return nil, err
	}
	var painter engine.Painter
	err = m.add("plan", func() (err error) {
		painter, err = analyser.Plan(ctx, engine.Output{
			Frames: m.Frames, Source: func(i int) int { return i },
			Spoken: spoken, Samples: io.NewSectionReader(pcm, 0, 2*samples), Speaker: speakers.Active(nil),
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return m.Times, m.secondPass(ctx, painter, sound)
}

// hear prepares the sound of a job: it writes that of the output to a file, and the samples to pcm. It returns the number of samples.
func hear(ctx context.Context, media render.Media, audio, sound string, pcm *os.File) (int64, error) {
	info, err := media.Probe(ctx, audio)
	if err != nil {
		return 0, err
	}
	file, err := os.Create(sound)
	if err != nil {
		return 0, err
	}
	samples, err := media.Samples(ctx, info, pcm, file, time.Hour)
	return samples, errors.Join(err, file.Close())
}

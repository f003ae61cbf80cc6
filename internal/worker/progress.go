package worker

import (
	"sync"
	"time"

	"lipsync/internal/lipsync"
	"lipsync/internal/render"
)

// share is the part of an attempt's 100 points that a stage is.
type share struct{ from, to int }

// shares are what stages take of an attempt, about. How long a fetch takes the
// network knows alone.
func shares() map[lipsync.Stage]share {
	return map[lipsync.Stage]share{
		lipsync.Fetching:  {0, 5},
		lipsync.Analyzing: {5, 30},
		lipsync.Rendering: {30, 97},
		lipsync.Storing:   {97, 99},
	}
}

// steady is how long a stage has to run before its speed says when the attempt
// ends.
const steady = 2 * time.Second

// meter says how far an attempt is. It may be told and asked at the same time.
type meter struct {
	mu       sync.Mutex
	began    time.Time // the stage
	progress lipsync.Progress
}

// enter tells that a stage begins.
func (m *meter) enter(stage lipsync.Stage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began = time.Now()
	m.progress = lipsync.Progress{Stage: stage, Percent: shares()[stage].from}
}

// rendered takes what a renderer tells.
func (m *meter) rendered(p render.Progress) {
	if p.Stage != m.read().Stage {
		m.enter(p.Stage)
	}
	m.advance(p.Done, p.Total)
}

// advance tells that so many steps of the stage are done. It counts whole points
// alone: most calls change nothing.
func (m *meter) advance(done, total int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	part := shares()[m.progress.Stage]
	points := (part.to - part.from) * done / max(total, done, 1)
	if part.from+points <= m.progress.Percent {
		return
	}
	m.progress.Percent = part.from + points
	if now := time.Now(); now.Sub(m.began) >= steady {
		left := now.Sub(m.began) * time.Duration(100-m.progress.Percent) / time.Duration(points)
		m.progress.Ends = now.Add(left).UTC().Truncate(time.Second)
	}
}

// read returns how far the attempt is.
func (m *meter) read() lipsync.Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.progress
}

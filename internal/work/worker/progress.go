package worker

import (
	"sync"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// share is the range of percent that a stage has in the progress of an attempt.
type share struct{ from, to int }

// shares returns the ranges of the stages, which are about their shares of the time. The time of a
// fetch depends on the network and can't be predicted.
func shares() map[order.Stage]share {
	return map[order.Stage]share{
		order.Fetching:  {0, 5},
		order.Analyzing: {5, 30},
		order.Rendering: {30, 97},
		order.Storing:   {97, 99},
	}
}

// steady is the time that a stage must run before its speed gives an estimate of the attempt's end.
const steady = 2 * time.Second

// meter holds the progress of an attempt. It is safe for concurrent use.
type meter struct {
	mu       sync.Mutex
	began    time.Time // of the stage
	progress lipsync.Progress
}

// enter begins a stage.
func (m *meter) enter(stage order.Stage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began = time.Now()
	m.progress = lipsync.Progress{Stage: stage, Percent: shares()[stage].from}
}

// advance records that done of total steps of the stage are done. It counts only whole percents, so
// most calls change nothing.
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

// read returns the progress of the attempt.
func (m *meter) read() lipsync.Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.progress
}

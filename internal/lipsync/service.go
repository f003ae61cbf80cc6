package lipsync

import (
	"io"
	"log/slog"
	"time"
)

// How long things last.
const (
	// Lease is how long a worker holds a request before it must renew.
	Lease = time.Minute
	// OrphanAge is older than any object can be whose record is still to come:
	// the age that Tidy is called with while others may be writing.
	OrphanAge = 24 * time.Hour

	// finishTime bounds the last write of a request whose output is there.
	finishTime = 10 * time.Second

	putURLLife     = time.Hour
	getURLLife     = 2 * time.Hour
	idempotentLife = 24 * time.Hour
)

// How often a request is claimed before it fails.
const (
	// MaxAttempts counts the claims that were not given back.
	MaxAttempts = 3
	// MaxClaims counts all of them, except Delays. It is far more than restarts and kills
	// do to a request that is not their cause, and ends one that each time brings down
	// the whole process, whose end gives it back.
	MaxClaims = 30
)

// Sizes of media in bytes, where the Service says no others.
const (
	defaultMaxVideo = 5 << 30
	defaultMaxAudio = 500 << 20
)

// Service holds every business rule. Its fields are set once, before use.
type Service struct {
	Store
	Objects Objects
	Queue   Queue
	Watcher Watcher // nil if nobody watches
	// Pool, Demand and MaxWorkers, the most that the Pool has, are for Scale. They are not
	// there in a home in which workers stand ready; a worker needs Demand only.
	Pool       Pool
	Demand     Demand
	MaxWorkers int
	// Log hears of failures that no caller is told of; nil: nobody does.
	Log *slog.Logger
	// Room returns NoSpace if new media of that many bytes have no room. What
	// was accepted goes on all the same. nil: there always is room.
	Room func(size int64) error
	Now  func() time.Time
	// Clock watches Now in a home in which one process does everything. It is nil elsewhere.
	Clock  *ClockWatch
	NewID  func() string // a new UUID
	Random io.Reader     // cryptographic randomness

	// Engines are the names of those that requests may ask for, the default
	// first. There is at least one where requests are taken.
	Engines []string

	GenerateRate, ReadRate int   // calls a minute for a key
	MaxVideo, MaxAudio     int64 // bytes of one medium; 0 is 5 GiB and 500 MiB

	// Limits bound what an account may have; a 0 in them is that of DefaultLimits.
	Limits Limits
}

// MaxSize returns how many bytes a medium of the kind may have.
func (s *Service) MaxSize(kind MediaKind) int64 {
	switch {
	case kind == Video && s.MaxVideo > 0:
		return s.MaxVideo
	case kind == Video:
		return defaultMaxVideo
	case s.MaxAudio > 0:
		return s.MaxAudio
	default:
		return defaultMaxAudio
	}
}

// log returns where failures are told.
func (s *Service) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}

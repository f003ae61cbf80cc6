package lipsync

import (
	"io"
	"log/slog"
	"time"
)

// Durations of the service.
const (
	// Lease is the time for which a worker holds a request before it must renew the lease.
	Lease = time.Minute
	// OrphanAge is the age from which an object without a record can be deleted. Every writer
	// stores the record of a new object sooner than that. Pass it to Tidy while other processes may
	// be writing.
	OrphanAge = 24 * time.Hour

	// finishTime bounds the write that makes a request final, after its output is stored.
	finishTime = 10 * time.Second

	putURLLife     = time.Hour
	getURLLife     = 2 * time.Hour
	idempotentLife = 24 * time.Hour
)

// Numbers of claims after which a request fails.
const (
	// MaxAttempts is the largest number of claims, without those that ended with a release.
	MaxAttempts = 3
	// MaxClaims is the largest number of all claims, without Delays. It ends a request that crashes
	// the process at each attempt. Recover does not count such an attempt. Restarts and crashes with
	// other causes reach it only if they are very frequent.
	MaxClaims = 30
)

// Largest sizes of media in bytes, if the Service sets no others.
const (
	defaultMaxVideo = 5 << 30
	defaultMaxAudio = 500 << 20
)

// maxBoxes is the largest size of a file of boxes, in bytes. It is enough for an hour with 120 frames/s.
const maxBoxes = 32 << 20

// Service holds every business rule. Its fields are set once, before use.
type Service struct {
	Store   Store
	Objects Objects
	Queue   Queue
	Watcher Watcher // may be nil
	// Announcer tells the process that makes deliveries about them; it may be nil. Poster and EventBody
	// are for that process: EventBody returns the body of a delivery's event as JSON.
	Announcer Announcer
	Poster    Poster
	EventBody func(d Delivery, about Subject) ([]byte, error)
	// Bus is for the process that publishes events on AWS. There, EventBody returns what an event on the bus tells.
	Bus Bus
	// Pool, Demand and MaxWorkers, the most that the Pool has, are for Scale. They are unset on
	// one machine, where workers always run. A worker needs only Demand. Place needs MaxWorkers.
	Pool       Pool
	Demand     Demand
	MaxWorkers int
	// Workers is the number of workers of this process, which all run. It is 0 if a Pool has the workers.
	Workers int
	// Log receives failures that no caller learns of. If nil, they are discarded.
	Log *slog.Logger
	// Room returns NoSpace if the disk has too little space for new media of size bytes. Accepted
	// requests continue anyway. If nil, the service assumes enough space.
	Room func(size int64) error
	Now  func() time.Time
	// Clock watches Now on one machine, where one process does everything. It is nil on AWS.
	Clock  *ClockWatch
	NewID  func() string // a new UUID
	Random io.Reader     // cryptographic randomness

	// Engines has the names of the engines that requests may name, the default first. A service
	// that accepts requests needs at least one.
	Engines []string

	GenerateRate, ReadRate int   // calls per minute and key
	MaxVideo, MaxAudio     int64 // in bytes, of one input; 0 means 5 GiB and 500 MiB
	MaxFindings            int64 // in bytes, of all findings; 0 means any size

	// RequireProvenance makes the service refuse outputs that can't be signed. Its workers must have a signer.
	RequireProvenance bool

	// Limits bound each account. A field that is 0 means the value of DefaultLimits.
	Limits Limits
}

// MaxSize returns the largest size in bytes of a medium of the kind.
func (s *Service) MaxSize(kind MediaKind) int64 {
	switch {
	case kind == Boxes:
		return maxBoxes
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

// MaxMedia returns the largest size of all media of a request in bytes.
func (s *Service) MaxMedia(r Request) int64 {
	size := s.MaxSize(Video) + int64(len(r.Audios()))*s.MaxSize(Audio)
	if r.Options.Face.By == FaceInBoxes {
		size += s.MaxSize(Boxes)
	}
	return size
}

// log returns s.Log, or a logger that discards everything if that is nil.
func (s *Service) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}

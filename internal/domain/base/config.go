package base

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// Largest sizes of media in bytes, if the Config sets no others.
const (
	defaultMaxVideo = 5 << 30
	defaultMaxAudio = 500 << 20
)

// maxBoxes is the largest size of a file of boxes, in bytes. It is enough for an hour with 120 frames/s.
const maxBoxes = 32 << 20

// Config says what a service offers, and what it allows.
type Config struct {
	// Engines has the names of the engines that requests may name, the default first. A service
	// that accepts requests needs at least one.
	Engines []string

	GenerateRate, ReadRate int   // calls per minute and key
	MaxVideo, MaxAudio     int64 // in bytes, of one input; by default 5 GiB and 500 MiB
	MaxFindings, MaxPieces int64 // in bytes, of all findings and of all pieces; 0 means any size

	// RequireProvenance makes the service refuse outputs that can't be signed. Its workers must have a signer.
	RequireProvenance bool

	// Limits bound each account. A limit that is 0 has the value of lipsync.DefaultLimits.
	Limits lipsync.Limits

	// Pooled says that a Pool has the workers, which Scale starts. Otherwise the service's process has them, and
	// they always run.
	Pooled bool
	// Workers is the number of workers of the process, or the most that the Pool has. If 0, it is not known.
	Workers int
	// SmallWorkers is the most workers that SmallPool has; 0 if there is no such pool.
	SmallWorkers int
	// NeuralWorkers is the most workers that NeuralPool has; 0 if there is no such pool.
	NeuralWorkers int
	// Duty says which requests workers of this process claim. Those that do only small ones give back what turns out large.
	Duty lipsync.Duty
}

// Ports are what a service needs of the world. New gives those that say so a default. The others may be missing where neither the Config, another port nor
// a call needs them: a function on AWS links only the adapters that it uses. New can't know the calls: one whose Store, Objects or Hints are missing panics.
type Ports struct {
	Store   lipsync.Store
	Objects lipsync.Objects
	Hints   lipsync.Hints
	// Foretell tells the process that calls Scale that a small request may come soon; by default none is told.
	Foretell func(context.Context) error
	Watcher  lipsync.Watcher // by default nobody watches
	// Announcer tells the process that makes deliveries about them; by default none is told. Poster is for that process.
	Announcer lipsync.Announcer
	Poster    lipsync.Poster
	// Bus is for the process that publishes events on AWS.
	Bus lipsync.Bus
	// EventBody returns the body of a delivery's event as JSON, for the process with the Poster or the Bus.
	EventBody func(d lipsync.Delivery, about lipsync.Subject) ([]byte, error)
	// Pool, SmallPool and NeuralPool are for Scale. Workers of the SmallPool claim only small requests. Those of the NeuralPool claim only
	// neural ones, and then those of the Pool claim none of these. A process with a Pool has each pool of which the Config has workers.
	Pool, SmallPool, NeuralPool lipsync.Pool
	Demand                      lipsync.Demand // for Scale, and for workers of a Pool
	// Log receives failures that no caller learns of; by default they are discarded.
	Log *slog.Logger
	// Room returns NoSpace if the disk has too little space for new media of size bytes. Accepted
	// requests continue anyway. By default there is always space.
	Room func(size int64) error
	// RoomToWork returns NoSpace if the disk has too little space for size bytes of files of accepted requests, with a transfer.TooSmall in its chain if it
	// never has. By default there is always space.
	RoomToWork func(size int64) error
	Now        func() time.Time // time.Now by default
	// Settled reports whether leases can be compared with Now, as clock.Watch does on one machine; by default always.
	Settled func() bool
	// Trusted reports whether Now may decide what is deleted by its age, as clock.Doubt does on one machine; by default always.
	Trusted func() bool
	// Working returns since when each request in work has been worked on, and how many more wait to be worked on again after they waited for a server;
	// held are the times of the claims, for a process that knows no better. By default each request that is held is worked on.
	Working func(held []time.Time) (since []time.Time, ready int)
	NewID   func() string // a new UUID; uuid.NewString by default
	Random  io.Reader     // cryptographic randomness; rand.Reader by default
}

// complete returns the limits with the defaults for those that are 0.
func complete(l lipsync.Limits) lipsync.Limits {
	d := lipsync.DefaultLimits()
	l.Open, l.Stored, l.Keys = cmp.Or(l.Open, d.Open), cmp.Or(l.Stored, d.Stored), cmp.Or(l.Keys, d.Keys)
	l.Batches, l.Webhooks = cmp.Or(l.Batches, d.Batches), cmp.Or(l.Webhooks, d.Webhooks)
	l.Undelivered = cmp.Or(l.Undelivered, d.Undelivered)
	return l
}

// complete returns the ports with the defaults of those that are missing.
func (p Ports) complete() Ports {
	p.Watcher, p.Announcer = cmp.Or[lipsync.Watcher](p.Watcher, nobody{}), cmp.Or[lipsync.Announcer](p.Announcer, nobody{})
	p.Log, p.Random = cmp.Or(p.Log, slog.New(slog.DiscardHandler)), cmp.Or(p.Random, rand.Reader)
	if p.Foretell == nil {
		p.Foretell = func(context.Context) error { return nil }
	}
	if p.Room == nil {
		p.Room = func(int64) error { return nil }
	}
	if p.RoomToWork == nil {
		p.RoomToWork = func(int64) error { return nil }
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Settled == nil {
		p.Settled = func() bool { return true }
	}
	if p.Trusted == nil {
		p.Trusted = func() bool { return true }
	}
	if p.Working == nil {
		p.Working = func(held []time.Time) ([]time.Time, int) { return held, 0 }
	}
	if p.NewID == nil {
		p.NewID = uuid.NewString
	}
	return p
}

// MaxSize returns the largest size in bytes of a medium of the kind.
func (c Config) MaxSize(kind failure.MediaKind) int64 {
	switch kind {
	case failure.Boxes:
		return maxBoxes
	case failure.Video:
		return c.MaxVideo
	default:
		return c.MaxAudio
	}
}

// MaxMedia returns the largest size of all media of a request in bytes.
func (c Config) MaxMedia(r lipsync.Request) int64 {
	size := c.MaxSize(failure.Video) + int64(len(r.Audios()))*c.MaxSize(failure.Audio)
	if r.Options.Face.By == order.FaceInBoxes {
		size += c.MaxSize(failure.Boxes)
	}
	return size
}

// CheckProvenance returns an error with the failure NotSignable if every output must be signed, and this one can't be.
func (c Config) CheckProvenance(o order.Output) error {
	if c.RequireProvenance && !o.Signable() {
		return failure.Failure{Code: failure.NotSignable}.Because(nil)
	}
	return nil
}

// nobody is a Watcher and an Announcer that does nothing.
type nobody struct{}

func (nobody) Created(lipsync.Request)                    {}
func (nobody) Started(lipsync.Request)                    {}
func (nobody) Finished(lipsync.Request)                   {}
func (nobody) Postponed(lipsync.Request, failure.Failure) {}
func (nobody) Waiting(time.Duration)                      {}
func (nobody) Unreachable(int)                            {}
func (nobody) Failing(time.Duration)                      {}
func (nobody) Refused(lipsync.BusEvent)                   {}
func (nobody) CallNotNoted()                              {}

func (nobody) Posted(lipsync.Delivery, time.Duration) {}

func (nobody) Announce(context.Context, string, string, time.Duration) error { return nil }

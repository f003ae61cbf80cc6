// Package base has what the parts of the service share: its Config, its Ports to the world, and small helpers on both.
package base

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lipsync/internal/domain/lipsync"
)

// AtOnce is the number of things that Each does at a time. On AWS one deletion takes some 100 ms, so a Sweep deletes
// 6000 uploads, and a day's Sweeps delete the uploads of four million requests.
const AtOnce = 16

// Base has what all parts of a service share. All methods are safe for concurrent use.
type Base struct {
	Config
	Ports
}

// New returns a Base with the defaults of what is missing. It returns an error if values of the Config make no sense or ports are missing that
// the Config or another port needs; it names them all.
func New(c Config, p Ports) (*Base, error) {
	numbers := map[string]int64{
		"GenerateRate": int64(c.GenerateRate), "ReadRate": int64(c.ReadRate), "MaxVideo": c.MaxVideo, "MaxAudio": c.MaxAudio,
		"MaxFindings": c.MaxFindings, "MaxPieces": c.MaxPieces, "Workers": int64(c.Workers), "Limits.Open": int64(c.Limits.Open), "Limits.Stored": c.Limits.Stored,
		"Limits.Keys": int64(c.Limits.Keys),
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		if n := numbers[name]; n < 0 {
			errs = append(errs, fmt.Errorf("%s is %d", name, n))
		}
	}
	if slices.Contains(c.Engines, "") {
		errs = append(errs, errors.New("an engine has no name"))
	}
	if err := errors.Join(append(errs, p.fit(c)...)...); err != nil {
		return nil, err
	}
	c.MaxVideo, c.MaxAudio = cmp.Or(c.MaxVideo, defaultMaxVideo), cmp.Or(c.MaxAudio, defaultMaxAudio)
	c.Limits = complete(c.Limits)
	return &Base{c, p.complete()}, nil
}

// OutputExpires returns the time from which the request's output is no longer available, or the zero
// time if the request has no output.
func (b *Base) OutputExpires(r lipsync.Request) time.Time {
	if r.Output == "" {
		return time.Time{}
	}
	return r.FinishedAt.Add(b.Limits.Keep.OutputLife())
}

// OutputURL returns a new signed URL of the request's output, or nil if there is no output or it has
// expired.
func (b *Base) OutputURL(ctx context.Context, r lipsync.Request) (*url.URL, error) {
	now := b.Now()
	if !now.Before(b.OutputExpires(r)) {
		return nil, nil
	}
	return b.Objects.SignGet(ctx, r.Output, r.OutputName(), now.Add(lipsync.LinkLife))
}

// DeleteOutput deletes an output and its poster. Either may be missing.
func (b *Base) DeleteOutput(ctx context.Context, key string) error {
	return errors.Join(b.Objects.Delete(ctx, key), b.Objects.Delete(ctx, lipsync.PosterOf(key)))
}

// Announce tells the process that makes deliveries about them, each due after the pause. That is only a
// hint: the store has the deliveries that wait.
func (b *Base) Announce(ctx context.Context, pause time.Duration, all ...lipsync.Delivery) {
	for _, d := range all {
		if err := b.Announcer.Announce(ctx, d.Webhook, d.ID, max(0, pause)); err != nil {
			b.Log.WarnContext(ctx, "delivery not announced", "delivery", d.ID, "error", err)
		}
	}
}

// Over reports whether the time end has come.
func (b *Base) Over(end time.Time) bool { return !b.Now().Before(end) }

// Ever returns a time after the end of any lease or pause, even of one that began before the clock
// was set back.
func (b *Base) Ever() time.Time { return b.Now().AddDate(100, 0, 0) }

// Each calls do with each index below n, AtOnce at a time, until the time end.
func (b *Base) Each(n int, end time.Time, do func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, AtOnce) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !b.Over(end); i = int(next.Add(1)) - 1 {
				errs[i] = do(i)
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}

// RandomBelow returns a random number from 0 to n-1, and 0 if n is less than 2.
func (b *Base) RandomBelow(n int) int {
	var random [8]byte
	if n < 2 {
		return 0
	}
	if _, err := io.ReadFull(b.Random, random[:]); err != nil {
		return 0
	}
	return int(binary.BigEndian.Uint64(random[:]) % uint64(n))
}

// RandomByte returns a random number from 0 to 255: the largest one if there is none.
func (b *Base) RandomByte() byte {
	var random [1]byte
	if _, err := b.Random.Read(random[:]); err != nil {
		return 255
	}
	return random[0]
}

// Package broker lets a runner that has no rights to the table and the media do requests. The runner calls a function of Lambda, which claims a request for it.
// While the runner holds the lease, the function reads and changes the record of that request for it, and gives it sessions that reach only the media of
// that request.
package broker

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// operation is what a runner asks for: a method of service.Records or SmallWorkers, or a session.
type operation string

const (
	claim      operation = "claim"
	renew      operation = "renew"
	held       operation = "held"
	report     operation = "report"
	noteVideo  operation = "note_video"
	release    operation = "release"
	enlarge    operation = "enlarge"
	fault      operation = "fault"
	finish     operation = "finish"
	noteSpeed  operation = "note_speed"
	worked     operation = "worked"
	session    operation = "session"
	beginSmall operation = "begin_small" // of a small worker
	endSmall   operation = "end_small"
)

// message is what a runner sends. ID and Lease say which lease it holds.
type message struct {
	Do    operation `json:"do"`
	ID    string    `json:"id,omitempty"`    // of the request
	Lease string    `json:"lease,omitempty"` // token

	Duty     lipsync.Duty     `json:"duty,omitempty"`  // of the runner
	Class    lipsync.Class    `json:"class,omitempty"` // of the request that was worked on
	Start    string           `json:"start,omitempty"` // name of the start of small workers
	Progress lipsync.Progress `json:"progress,omitzero"`
	Video    []byte           `json:"video,omitempty"` // SHA-256
	Ended    ended            `json:"ended,omitzero"`
	Size     int64            `json:"size,omitempty"` // see service.Records.NoteSpeed
	Took     time.Duration    `json:"took,omitempty"`
	Key      string           `json:"key,omitempty"` // of the object that the session is for
}

// ended says how an attempt ended.
type ended struct {
	VideoLength time.Duration `json:"video_length,omitempty"`
	AudioLength time.Duration `json:"audio_length,omitempty"`

	Outcome lipsync.Outcome `json:"outcome,omitzero"` // for finish
	Fault   wireError       `json:"fault,omitzero"`   // for fault
}

// answer is the broker's answer to a message.
type answer struct {
	Error   wireError     `json:"error,omitzero"` // the call changed nothing, or it isn't known what it changed
	Request *claimed      `json:"request,omitempty"`
	Fault   wireError     `json:"fault,omitzero"` // with the failure that a fault became
	Again   time.Time     `json:"again,omitzero"`
	All     time.Duration `json:"all,omitempty"`
	Session *credentials  `json:"session,omitempty"`
}

// credentials are those of a session.
type credentials struct {
	Key    string    `json:"key"`
	Secret string    `json:"secret"`
	Token  string    `json:"token"`
	Until  time.Time `json:"until"`
}

// wireError is a *failure.Error without its cause.
type wireError struct {
	Code       failure.Code    `json:"code,omitempty"`
	Message    string          `json:"message,omitempty"`
	RetryAfter time.Duration   `json:"retry_after,omitempty"`
	Reason     failure.Reason  `json:"reason,omitempty"`
	Details    failure.Details `json:"details,omitzero"`
}

// newError returns an error as the other side gets it, with the failure of the request, if it has one. Of an error that is none of the service's, only the failure is told.
func newError(err error, f failure.Failure) wireError {
	e, ok := errors.AsType[*failure.Error](err)
	if !ok {
		e = &failure.Error{Code: failure.Internal, Message: "internal error"}
		if f.Code == failure.HostFailing {
			e.Code = failure.Unavailable
		}
	}
	f.Cause = clip(f.Cause)
	return wireError{e.Code, clip(e.Message), e.RetryAfter, f.Code, f.Details}
}

// clip returns the beginning of a text that is too long for a message.
func clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "")
}

// err returns the error, nil if it is zero.
func (e wireError) err() error {
	if e.Code == "" {
		return nil
	}
	return &failure.Error{Code: e.Code, Message: e.Message, RetryAfter: e.RetryAfter, Failure: e.failure()}
}

func (e wireError) failure() failure.Failure {
	return failure.Failure{Code: e.Reason, Details: e.Details}
}

// claimed is what a runner learns of a request that it has claimed.
type claimed struct {
	ID          string        `json:"id"`
	Account     string        `json:"account"`
	CallID      string        `json:"call_id,omitempty"`
	Kind        lipsync.Kind  `json:"kind,omitempty"`
	Class       lipsync.Class `json:"class,omitempty"`
	Video       lipsync.Input `json:"video"`
	Audio       lipsync.Input `json:"audio"`
	Tracks      string        `json:"tracks,omitempty"` // as stores keep them
	LargestFace bool          `json:"largest_face,omitempty"`
	Engine      string        `json:"engine,omitempty"`
	Options     string        `json:"options,omitempty"` // as stores keep them
	Unread      string        `json:"unread,omitempty"`  // why a part of the options can't be read
	VideoSum    []byte        `json:"video_sum"`
	Lease       string        `json:"lease"`
	Claims      int           `json:"claims"`
	Attempts    int           `json:"attempts"`
}

func newClaimed(r lipsync.Request) *claimed {
	c := &claimed{
		ID: r.ID, Account: r.Account, CallID: r.CallID, Kind: r.Kind, Class: r.Class, Video: r.Video, Audio: r.Audio, Tracks: r.Tracks.Text(), LargestFace: r.LargestFace, Engine: r.Engine,
		Options: r.Options.Text(), VideoSum: r.VideoSum[:], Lease: r.Lease, Claims: r.Claims, Attempts: r.Attempts,
	}
	if r.Options.Unread != nil {
		c.Unread = r.Options.Unread.Error()
	}
	return c
}

// request returns the request as its worker needs it.
func (c *claimed) request() (r lipsync.Request, err error) {
	r = lipsync.Request{
		ID: c.ID, Account: c.Account, CallID: c.CallID, Kind: c.Kind, Class: c.Class, Status: lipsync.Processing, Video: c.Video, Audio: c.Audio, LargestFace: c.LargestFace, Engine: c.Engine,
		Lease: c.Lease, Claims: c.Claims, Attempts: c.Attempts,
	}
	copy(r.VideoSum[:], c.VideoSum)
	if r.Tracks, err = lipsync.ParseTracks(c.Tracks); err != nil {
		return r, err
	}
	r.Options, err = order.ParseOptions(c.Options)
	if err == nil && c.Unread != "" {
		r.Options.Unread = errors.New(c.Unread)
	}
	return r, err
}

// Bounds of what a runner may send.
const (
	maxMessage = 256 << 10 // bytes
	maxText    = 4 << 10   // bytes of the message or the cause of a fault
	maxStart   = 60        // bytes
	maxGaps    = 1000
	maxTook    = 7 * 24 * time.Hour // the longest time of a job
)

// parse reads a runner's message, which may be an attacker's. It returns Invalid for one that no runner sends.
func parse(text []byte) (c message, err error) {
	if len(text) > maxMessage {
		return c, invalid("has %d bytes", len(text))
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return c, invalid("%.100s", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return c, invalid("more than a message")
	}
	return c, c.check()
}

func invalid(format string, args ...any) error {
	return failure.New(failure.Invalid, "a runner's message: "+fmt.Sprintf(format, args...))
}

// check returns Invalid unless the values are such as a runner sends.
func (c message) check() error {
	switch c.Do {
	case claim, worked:
		if !slices.Contains(lipsync.Classes(), c.Class) {
			return invalid("the class %.40q", c.Class)
		}
		if !slices.Contains(lipsync.Duties(), c.Duty) {
			return invalid("the duty %.40q", c.Duty)
		}
		return c.checkNumbers()
	case beginSmall, endSmall:
		if c.Start == "" || len(c.Start) > maxStart || strings.Trim(c.Start, "0123456789abcdefghijklmnopqrstuvwxyz/") != "" {
			return invalid("the start %.40q", c.Start)
		}
		return nil
	}
	if id, ok := lipsync.ParseID(c.ID); !ok || id != c.ID || c.Lease == "" || len(c.Lease) > maxText {
		return invalid("names no lease")
	}
	o := c.Ended.Outcome
	switch {
	case (c.Video != nil || c.Do == noteVideo) && len(c.Video) != sha256.Size:
		return invalid("a SHA-256 of %d bytes", len(c.Video))
	case o.Failure != (failure.Failure{}):
		return invalid("an outcome with a failure")
	case c.Do == report && !isWord(string(c.Progress.Stage)):
		return invalid("the stage %.40q", c.Progress.Stage)
	case len(o.Warnings) > maxText || len(o.Unsynced.Gaps) > maxGaps || len(o.Sync.Curve) > order.MostMoments || len(c.Key) > maxText:
		return invalid("too long a value")
	}
	if c.Do == fault {
		if err := c.Ended.Fault.check(); err != nil {
			return err
		}
	}
	return c.checkNumbers()
}

// checkNumbers returns Invalid if a number is out of its range.
func (c message) checkNumbers() error {
	o := c.Ended.Outcome
	if c.Took < 0 || c.Took > maxTook || c.Size < 0 || c.Progress.Percent < 0 || c.Progress.Percent > 99 ||
		min(o.Length, o.VideoLength, o.AudioLength, c.Ended.VideoLength, c.Ended.AudioLength) < 0 || o.Size < 0 || min(o.Frames.Total, o.Frames.Synced) < 0 {
		return invalid("a number out of its range")
	}
	return nil
}

// isWord reports whether a text has the form of a code.
func isWord(text string) bool {
	return text != "" && len(text) <= 40 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// check returns Invalid unless the error is one that can end an attempt.
func (e wireError) check() error {
	d := e.Details
	switch {
	case !isWord(string(e.Code)) || !isWord(string(e.Reason)) || e.Reason == failure.Canceled:
		return invalid("a fault without a code")
	case max(len(e.Message), len(d.Cause), len(d.Model), len(d.Codec), len(d.Kind)) > maxText:
		return invalid("too long a text of a fault")
	}
	return nil
}

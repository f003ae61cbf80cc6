package lipsync

import (
	"encoding/hex"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// MostLines is the largest number of lines of a batch.
const MostLines = 1000

// Batch is a list of requests that one call makes. Each of its lines stands for one request.
type Batch struct {
	ID      string // UUID, lower case
	Account string
	KeyID   string // the key that made it; "" if a person made it in the dashboard
	CallID  string // the id of the call that made it, which its requests have too; "" if that was in the dashboard
	Lines   string // a LineState for each line
	Targets Targets
	// Fingerprint is a SHA-256 of everything that the call asked for.
	Fingerprint [32]byte

	CreatedAt  time.Time
	CanceledAt time.Time // when the client canceled it; zero if never
	FinishedAt time.Time // when all lines were found final; zero before

	Version int64 // grows with each change
}

// LineState is the state of a line of a batch. It is a letter, since a batch is stored with the states of its lines as one text.
type LineState byte

// The states of a line. All except LineWaiting, LineQueued and LineProcessing are final.
const (
	LineWaiting    LineState = 'w' // its request isn't made yet
	LineQueued     LineState = 'q'
	LineProcessing LineState = 'p'
	LineCompleted  LineState = 'c'
	LineFailed     LineState = 'f'
	LineCanceled   LineState = 'x'
	LineDropped    LineState = 'd' // canceled before its request was made
	LineOverLimit  LineState = 'l' // no request was made, since the key was used up
	LineRefused    LineState = 'r' // no request was made, since an upload was gone
	LineUnoffered  LineState = 'u' // no request was made, since the service no longer takes its parameters
	LineRevoked    LineState = 'k' // no request was made, since the key was revoked or expired
	LineForgotten  LineState = 'o' // no request was made, since its parameters were deleted
)

// lineStates has the names of the states for clients.
var lineStates = map[LineState]string{
	LineWaiting: waitingLine, LineQueued: string(Queued), LineProcessing: string(Processing), LineCompleted: string(Completed),
	LineFailed:   string(Failed),
	LineCanceled: string(Canceled), LineDropped: string(Canceled), LineOverLimit: refusedLine, LineRefused: refusedLine,
	LineRevoked: refusedLine, LineUnoffered: refusedLine, LineForgotten: refusedLine,
}

// The names of states that requests don't have.
const waitingLine, refusedLine = "waiting", "refused"

// countedStates has the names of all states for clients, in the order in which people read them, with their places in Counts.
var countedStates = []struct {
	name string
	of   func(*Counts) *int
}{
	{waitingLine, func(c *Counts) *int { return &c.Waiting }},
	{string(Queued), func(c *Counts) *int { return &c.Queued }},
	{string(Processing), func(c *Counts) *int { return &c.Processing }},
	{string(Completed), func(c *Counts) *int { return &c.Completed }},
	{string(Failed), func(c *Counts) *int { return &c.Failed }},
	{string(Canceled), func(c *Counts) *int { return &c.Canceled }},
	{refusedLine, func(c *Counts) *int { return &c.Refused }},
}

// LineStates returns the names of all states.
func LineStates() (names []string) {
	for _, s := range countedStates {
		names = append(names, s.name)
	}
	return names
}

// String returns the name of the state for clients. Some states have the same name.
func (s LineState) String() string { return lineStates[s] }

// Problem returns the sentence for the client that says why no request was made, or "" if there is no such reason.
func (s LineState) Problem() string {
	switch s {
	case LineOverLimit:
		return "token limit reached"
	case LineRevoked:
		return "the key was revoked or expired"
	case LineRefused:
		return "upload does not exist any more"
	case LineUnoffered:
		return "the service no longer has the model or an option of the line"
	case LineForgotten:
		return "the line waited for too long"
	default:
		return ""
	}
}

// Made reports whether the line has a request.
func (s LineState) Made() bool {
	return s != LineWaiting && s != LineDropped && s.Problem() == ""
}

// Final reports whether a line keeps the state for good.
func (s LineState) Final() bool { return s != LineWaiting && s != LineQueued && s != LineProcessing }

// Counts has the numbers of a batch's lines by their states.
type Counts struct {
	Lines      int `json:"lines"`
	Waiting    int `json:"waiting"`
	Queued     int `json:"queued"`
	Processing int `json:"processing"`
	Completed  int `json:"completed"`
	Failed     int `json:"failed"`
	Canceled   int `json:"canceled"`
	Refused    int `json:"refused"`
}

// Final returns the number of lines that keep their states.
func (c Counts) Final() int { return c.Completed + c.Failed + c.Canceled + c.Refused }

// ByState returns the numbers by the names of the states.
func (c Counts) ByState() map[string]int {
	n := make(map[string]int)
	for _, s := range countedStates {
		n[s.name] = *s.of(&c)
	}
	return n
}

// Counts counts the lines by their states.
func (b Batch) Counts() Counts {
	n := make(map[string]int)
	for i := range len(b.Lines) {
		n[b.State(i).String()]++
	}
	c := Counts{Lines: len(b.Lines)}
	for _, s := range countedStates {
		*s.of(&c) = n[s.name]
	}
	return c
}

// BatchStatus is the state of a batch as clients see it.
type BatchStatus string

// The statuses of a batch. BatchCompleted and BatchCanceled are final.
const (
	BatchProcessing BatchStatus = "processing"
	BatchCanceling  BatchStatus = "canceling" // it was canceled, and some lines aren't final
	BatchCompleted  BatchStatus = "completed" // all lines are final
	BatchCanceled   BatchStatus = "canceled"
)

// Status returns the state of the batch.
func (b Batch) Status() BatchStatus {
	switch canceled, final := !b.CanceledAt.IsZero(), b.Final(); {
	case canceled && final:
		return BatchCanceled
	case canceled:
		return BatchCanceling
	case final:
		return BatchCompleted
	default:
		return BatchProcessing
	}
}

// Final reports whether all lines are final.
func (b Batch) Final() bool { return b.Counts().Final() == len(b.Lines) }

// LineView is a line of a batch as clients see it.
type LineView struct {
	Number  int     // from 1
	State   string  // see LineState.String
	Problem string  // why it failed, or why there is no request; "" if there is no such reason
	Request string  // id; "" if there is no request
	Record  Request // its request, Listed; zero if there is none, or if it wasn't read
}

// View returns the line n, from 0, as clients see it.
func (b Batch) View(n int) LineView {
	state := b.State(n)
	v := LineView{Number: n + 1, State: state.String(), Problem: state.Problem()}
	if state.Made() {
		v.Request = b.RequestID(n)
	}
	return v
}

// State returns the state of the line n, from 0.
func (b Batch) State(n int) LineState { return LineState(b.Lines[n]) }

// RequestID returns the id of the request of the line n, from 0. It follows from the batch, so no line ever has two requests.
func (b Batch) RequestID(n int) string {
	return uuid.NewSHA1(uuid.MustParse(b.ID), []byte(strconv.Itoa(n))).String()
}

// Object returns the key of the object with the parameters of the lines.
func (b Batch) Object() string { return BatchKeys + b.ID + "/" + hex.EncodeToString(b.Fingerprint[:]) }

// News returns the new deliveries of a batch that was changed. A store calls it in each change, and writes the deliveries in the
// same transaction.
func (b Batch) News() []Delivery {
	event, ok := b.event()
	if !ok {
		return nil
	}
	return b.Targets.deliveries(event)
}

// event returns the event of a batch that was changed, as a delivery that names no webhook. Only the change that sets FinishedAt has
// one, since it is the last one.
func (b Batch) event() (event Delivery, ok bool) {
	if b.FinishedAt.IsZero() {
		return Delivery{}, false
	}
	return newEvent(BatchFinished, b.Account, b.ID, b.FinishedAt, 2), true
}

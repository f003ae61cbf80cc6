package lipsync

import (
	"context"
	"net/http"
	"time"

	"lipsync/internal/domain/failure"
)

// CallLife is the time for which an account's calls are kept, and MostCalls the largest number of them that are listed.
const (
	CallLife  = 24 * time.Hour
	MostCalls = 1000
)

// CallKind is a group of calls that shares a rate.
type CallKind string

// The kinds of calls.
const (
	GenerateCall CallKind = "generate"
	ReadCall     CallKind = "read"
)

// Call is what is kept of a call of the API with a key: no body, no address and no secret.
type Call struct {
	At        time.Time
	ID        string // of the call, as the header X-Request-Id
	Method    string
	Route     string // the pattern of the path
	Status    int
	Code      failure.Code // "" if the call succeeded
	KeyID     string
	RequestID string // of the lip sync request that it was about, "" if none is known
}

// Noted reports whether the call is kept: it changed something, or failed. Calls beyond a rate aren't kept, since a client makes any number of
// them.
func (c Call) Noted() bool {
	if c.Code == failure.RateLimited {
		return false
	}
	return c.Status >= http.StatusBadRequest || c.Method != http.MethodGet && c.Method != http.MethodHead
}

// Calls keeps the last calls of each account.
type Calls interface {
	// Note adds a call of the account, and may remove those before the last MostCalls. It writes at most one record. The store may write it some seconds later, and lose it if
	// the process is killed; List and Erase know it at once.
	Note(ctx context.Context, account string, c Call) error
	// List returns the account's last calls that were made in the CallLife before now, newest first.
	List(ctx context.Context, account string, now time.Time) ([]Call, error)
	// Erase deletes the account's calls, some thousands at least. It reports whether more may be left.
	Erase(ctx context.Context, account string) (more bool, err error)
	// Expire deletes the calls that were made before the time. The store may also delete them by itself.
	Expire(ctx context.Context, before time.Time) error
}

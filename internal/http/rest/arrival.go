package rest

import (
	"io"
	"sync"
)

// arrivals counts, for each account, the bytes of files in forms that are not answered yet. No
// record has these bytes yet.
type arrivals struct {
	mu    sync.Mutex
	bytes map[string]int64
}

// add adds n bytes to an account's count and returns the new count.
func (a *arrivals) add(account string, n int64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bytes[account] += n
	total := a.bytes[account]
	if total == 0 {
		delete(a.bytes, account)
	}
	return total
}

// arrival reads a file that a client sends and counts its bytes. It keeps the error that ended the
// file. It returns StorageLimit once the account's forms and what it stores have more bytes than it may
// store.
type arrival struct {
	form *form
	r    io.Reader
	n    int64
	err  error
}

func (a *arrival) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	a.n += int64(n)
	if err != nil && err != io.EOF {
		a.err = err
	}
	a.form.arrived += int64(n)
	total := a.form.arrivals.add(a.form.account, int64(n))
	if full := a.form.service.CheckStored(a.form.stored + total); full != nil {
		return n, full
	}
	return n, err
}

// answered removes the form's bytes from the count of arriving bytes.
func (f *form) answered() { f.arrivals.add(f.account, -f.arrived) }

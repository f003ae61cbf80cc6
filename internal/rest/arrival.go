package rest

import (
	"io"
	"sync"
)

// arrivals counts the bytes of files in forms from when they arrive until their form is
// answered, by account: until then no record has them.
type arrivals struct {
	mu    sync.Mutex
	bytes map[string]int64
}

// add adds n bytes to those of an account, and returns how many it has.
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

// arrival counts the bytes of a file that a client sends, and keeps the error that it broke
// off with. It ends with StorageLimit once its account's forms have more than they may.
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
	if full := a.form.service.CheckArriving(total); full != nil {
		return n, full
	}
	return n, err
}

// answered takes the form's files from those that arrive.
func (f *form) answered() { f.arrivals.add(f.account, -f.arrived) }

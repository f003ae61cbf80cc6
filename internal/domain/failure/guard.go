package failure

import (
	"fmt"
	"runtime/debug"
)

// Guard calls f and returns its error. If f panics, Guard returns the panic as an error: what the media or the models of one job
// cause must not end other jobs.
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

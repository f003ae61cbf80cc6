package failure

import (
	"fmt"
	"runtime/debug"
)

// Guard calls f and returns its error. If f panics, Guard returns the panic as an error: what one call, or the media or the models of one job,
// cause must not end others.
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

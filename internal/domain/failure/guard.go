package failure

import (
	"fmt"
	"runtime/debug"
)

// Guard calls f and returns its error. If f panics, Guard returns the panic as an error: a fault in one call or job must not end others.
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

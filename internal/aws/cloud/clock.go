package cloud

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// tolerance is the largest difference between the clocks of the machine and of AWS that is not
// corrected. Answers have the time in whole seconds, and arrive some seconds later; a lease is
// renewed 45 s before it ends.
const tolerance = 10 * time.Second

// clock is the clock of this machine, corrected by the time in each answer of AWS, so that all
// machines agree on the end of a lease.
type clock struct {
	machine func() time.Time
	offset  atomic.Int64 // nanoseconds to add
}

// now returns the time.
func (c *clock) now() time.Time { return c.machine().Add(time.Duration(c.offset.Load())) }

// listen adds a step to the middleware of clients of AWS. It corrects the clock by each answer.
func (c *clock) listen(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("Clock",
		func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
			out, metadata, err := next.HandleDeserialize(ctx, in)
			if answer, ok := out.RawResponse.(*smithyhttp.Response); ok {
				c.correct(answer.Header.Get("Date"))
			}
			return out, metadata, err
		}), middleware.After)
}

// correct corrects the clock by the Date header of an answer, unless it is malformed.
func (c *clock) correct(date string) {
	told, err := http.ParseTime(date)
	if err != nil {
		return
	}
	offset := told.Sub(c.machine())
	if offset.Abs() <= tolerance {
		offset = 0
	}
	c.offset.Store(int64(offset))
}

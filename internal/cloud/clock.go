package cloud

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// tolerance is by how much the machine's clock may differ from that of AWS and yet count as
// right. Answers tell the time in whole seconds, some seconds before they are here; a lease
// is renewed 45 s before it ends.
const tolerance = 10 * time.Second

// clock is the clock of this machine, corrected by the time that AWS tells with each of its
// answers, so that all machines agree on when a lease ends.
type clock struct {
	machine func() time.Time
	offset  atomic.Int64 // what to add, in nanoseconds
}

// Now returns the time.
func (c *clock) Now() time.Time { return c.machine().Add(time.Duration(c.offset.Load())) }

// listen has the clients whose stack it is tell the clock of their answers.
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

// correct takes the time that an answer tells.
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

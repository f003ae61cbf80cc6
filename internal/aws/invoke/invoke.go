// Package invoke starts small workers as invocations of a function of Lambda.
package invoke

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"lipsync/internal/domain/lipsync"
)

// atOnce is the number of invocations that Start makes at a time. One takes some 20 ms.
const atOnce = 32

// Event is what the function gets of one invocation.
type Event struct {
	Start string // as the Record names it
}

// Record keeps how many small workers were started, have begun and have ended. So one counts from the moment of its start, and one that died is
// forgotten some time later.
type Record interface {
	// StartSmall records that n are started, and returns a name by which they record that they begin and end.
	StartSmall(ctx context.Context, now time.Time, n int) (start string, err error)
	// CountSmall returns the number of those that were started and have not begun, and of those that have begun and not ended.
	CountSmall(ctx context.Context, now time.Time) (waiting, running int, err error)
}

// Pool is a pool of workers, each an invocation of a function. It calls Lambda without the SDK's client, whose schemas would slow down the
// start of the functions that link it.
type Pool struct {
	config   aws.Config
	function string // name or ARN
	record   Record
	now      func() time.Time
	signer   *v4.Signer
}

var _ lipsync.Pool = (*Pool)(nil)

// New returns a pool that calls the function, by its name or ARN.
func New(config aws.Config, function string, r Record, now func() time.Time) *Pool {
	return &Pool{config: config, function: function, record: r, now: now, signer: v4.NewSigner()}
}

func (p *Pool) Count(ctx context.Context) (waiting, running int, err error) {
	return p.record.CountSmall(ctx, p.now())
}

// Start invokes the function n times. Lambda takes each invocation into a queue of its own. Those that it doesn't take count as waiting for a while; then the
// sweep starts others.
func (p *Pool) Start(ctx context.Context, n int) error {
	start, err := p.record.StartSmall(ctx, p.now(), n)
	if err != nil {
		return err
	}
	payload, err := json.Marshal(Event{Start: start})
	if err != nil {
		return err
	}
	var left, failed atomic.Int64
	left.Store(int64(n))
	errs := make([]error, min(n, atOnce)) // the last of each goroutine
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if err := p.invoke(ctx, payload); err != nil {
					errs[i] = err
					failed.Add(1)
				}
			}
		})
	}
	all.Wait()
	if n := failed.Load(); n > 0 {
		return fmt.Errorf("%d invocations of %s failed: %w", n, p.function, cmp.Or(errs...))
	}
	return nil
}

// invoke makes one invocation, whose answer Lambda doesn't wait for.
func (p *Pool) invoke(ctx context.Context, payload []byte) error {
	host, err := p.endpoint(ctx)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, host+"/2015-03-31/functions/"+url.PathEscape(p.function)+"/invocations", bytes.NewReader(payload))
	if err != nil {
		return err
	}
	r.Header.Set("X-Amz-Invocation-Type", "Event")
	r.Header.Set("Content-Type", "application/json")
	who, err := p.config.Credentials.Retrieve(ctx)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(payload)
	if err := p.signer.SignHTTP(ctx, who, r, hex.EncodeToString(sum[:]), "lambda", p.config.Region, p.now()); err != nil {
		return err
	}
	client := p.config.HTTPClient
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	if answer.StatusCode != http.StatusAccepted {
		return fmt.Errorf("got %s %s", answer.Status, text)
	}
	return err
}

// endpoint returns the address of Lambda: that of an emulator, or of the region.
func (p *Pool) endpoint(ctx context.Context) (string, error) {
	for _, source := range p.config.ConfigSources {
		if s, ok := source.(interface {
			GetServiceBaseEndpoint(context.Context, string) (string, bool, error)
		}); ok {
			if host, found, err := s.GetServiceBaseEndpoint(ctx, "Lambda"); found || err != nil {
				return host, err
			}
		}
	}
	if p.config.BaseEndpoint != nil {
		return *p.config.BaseEndpoint, nil
	}
	host := "https://lambda." + p.config.Region + ".amazonaws.com"
	if strings.HasPrefix(p.config.Region, "cn-") {
		host += ".cn"
	}
	return host, nil
}

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/s3"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/lipsynctest"
	"lipsync/internal/test/soak"
)

// make soak sets these flags; by default the test is a small sample.
var (
	soakJobs  = flag.Int("jobs", 6, "how many requests TestSoak_long makes")
	soakKills = flag.Int("kills", 1, "how many runners TestSoak_long kills")
	soakSeed  = flag.Uint64("seed", 0, "seed of TestSoak_long's random decisions; 0: any")
)

const (
	soakClients = 16
	soakRunners = 2
	// copies is the most times that a message comes, and latest is the longest delay of a message in
	// seconds.
	copies, latest = 10, 20
	// throttled is the share of calls that DynamoDB and S3 refuse.
	throttled = .02
	// sweeps is the interval between sweeps; on AWS it is a minute.
	sweeps = 10 * time.Second
)

// soaked is a deployment under load, with faults everywhere.
type soaked struct {
	*testDeployment
	load *soak.Load

	mu     sync.Mutex
	random *rand.Rand
	sent   int // messages
	came   int // messages and their copies
	slowed int // calls that were throttled
}

func newSoaked(t *testing.T) *soaked {
	t.Helper()
	s := &soaked{testDeployment: faultyOn(t, awstest.Shared(t))} // where no other test left an object without a record
	seed := soak.Seed(t, *soakSeed)
	s.random = rand.New(rand.NewPCG(seed, 0))
	s.load = &soak.Load{
		Base: func() string { return s.URL }, Jobs: *soakJobs, Clients: min(soakClients, *soakJobs), Poll: 2 * time.Second, Seed: seed,
	}
	for n := range 1 + *soakJobs/(generateRate/4) { // enough keys for their rates
		token, _, err := s.service.CreateKey(t.Context(), fmt.Sprintf("soak-%d-%d", seed, n), "soak", 0)
		if err != nil {
			t.Fatal(err)
		}
		s.load.Tokens = append(s.load.Tokens, token)
	}
	s.load.Video, s.load.Audio = soak.Media(t, fixtures.video)
	return s
}

// number returns a random number from 0 to n-1.
func (s *soaked) number(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

// sweep calls the sweep as the schedule does, until ctx ends. If no job runs, no lease has a
// worker; sweep then ends the leases, as if their minute were over.
func (s *soaked) sweep(ctx context.Context, function string) {
	client := lambda.NewFromConfig(s.config)
	for ctx.Err() == nil {
		if s.Batch.Idle() {
			s.endLeases(ctx)
		}
		_, _ = client.Invoke(ctx, &lambda.InvokeInput{FunctionName: &function, Payload: []byte("{}")}) // the next sweep corrects a failed one
		select {
		case <-ctx.Done():
		case <-time.After(sweeps):
		}
	}
}

func (s *soaked) endLeases(ctx context.Context) {
	store := s.service.Store
	open, _ := store.Leases.Open(ctx, time.Now().Add(2*lipsync.Lease), *soakJobs) // the next try corrects a failed one
	for _, r := range open {
		if r.Lease != "" {
			_ = s.endWait(ctx, r) // the lease may have been lost meanwhile
		}
	}
}

// completions returns the number of times that runners logged the completion of each request.
func (s *soaked) completions(t *testing.T) map[string]int {
	t.Helper()
	n := make(map[string]int)
	for line := range strings.Lines(string(read(t, s.log))) {
		var said struct{ Msg, Request string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Msg == "completed" {
			n[said.Request]++
		}
	}
	return n
}

// TestSoak_long makes many requests, whose messages come up to ten times, late and out of order, while
// runners are killed and calls are throttled.
func TestSoak_long(t *testing.T) {
	s, began := newSoaked(t), time.Now()
	s.disturb(t)
	s.Batch.SetLimit(soakRunners)
	t.Cleanup(func() { s.Batch.SetLimit(1) })
	sweeping, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	sweep := s.function(t, "Sweep")
	all.Go(func() { s.sweep(sweeping, sweep) })
	done, killed := make(chan struct{}), 0
	all.Go(func() { killed = s.killSome(t, done) })
	err := s.load.Run(t.Context())
	close(done)
	stop()
	all.Wait()
	if err != nil {
		t.Fatal(err)
	}
	s.between.set(nil)
	s.quiet(t)
	took := time.Since(began)
	ports := s.service.Ports
	ports.Objects = s3.New(s.config, s.Outputs["BucketName"], s3.Signer{})
	service := lipsynctest.NewService(t, s.service.Config, ports)
	completed := s.completions(t)
	report, err := s.load.Check(t.Context(), service, func(id string) int { return completed[id] })
	if err != nil {
		t.Fatal(err)
	}
	report.Print(t, fmt.Sprintf("%d messages came %d times, %d runners killed, %d calls throttled", s.sent, s.came, killed, s.slowed), took)
	if s.came == s.sent || killed == 0 || len(completed) == 0 {
		t.Error("too few faults were made")
	}
	if most := killed / lipsync.MaxAttempts; report.Failed > most {
		t.Errorf("%d requests used up their attempts, want %d at most, since %d runners were killed", report.Failed, most, killed)
	}
}

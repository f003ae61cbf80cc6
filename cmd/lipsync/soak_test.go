package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/internal/domain/failure"
	"lipsync/internal/test/soak"
)

// Flags of make soak. Without them a test is a small sample.
var (
	soakJobs   = flag.Int("jobs", 12, "number of requests that a soak makes")
	soakFaults = flag.Int("faults", 3, "number of faults that a soak makes")
	soakSeed   = flag.Uint64("seed", 0, "seed of the random choices; 0: any")
)

const (
	soakWorkers  = 2
	soakClients  = 24
	soakAccounts = 4

	// A soak checks every lookEvery how many requests have ended. At most soakPatience checks may pass
	// between two ends of requests: 10 minutes, if the machine isn't paused.
	lookEvery    = 100 * time.Millisecond
	soakPatience = 6000
)

// soaked is a server under load, which may be killed and started again.
type soaked struct {
	*server
	load      *soak.Load
	random    *rand.Rand
	url       atomic.Value // string
	completed map[string]int
	ours      []string // lines of the log with faults that count as attempts
	began     time.Time
	done      chan error // receives the error of the load when it ends
}

func newSoaked(t *testing.T) *soaked {
	t.Helper()
	seed := soak.Seed(t, *soakSeed)
	s := &soaked{random: rand.New(rand.NewPCG(seed, 0)), completed: make(map[string]int), began: time.Now(), done: make(chan error, 1)}
	s.load = &soak.Load{
		Base: func() string { return s.url.Load().(string) },
		Jobs: *soakJobs, Clients: min(soakClients, *soakJobs), Poll: time.Second, Seed: seed,
	}
	s.load.Video, s.load.Audio = soak.Media(t, fixtures.video)
	return s
}

func soakArgs() []string {
	return []string{"--workers", fmt.Sprint(soakWorkers), "--generate-rate", "1000000", "--read-rate", "1000000"}
}

// use makes the clients call a server from now on.
func (s *soaked) use(server *server) {
	s.server = server
	s.url.Store(server.url)
}

// start begins the load.
func (s *soaked) start(t *testing.T) {
	go func() { s.done <- s.load.Run(t.Context()) }()
}

// moments returns, for each fault, the number of requests that end before it.
func (s *soaked) moments() []int {
	n := make([]int, *soakFaults)
	for i := range n {
		n[i] = s.random.IntN(*soakJobs * 9 / 10)
	}
	slices.Sort(n)
	return n
}

// await waits until a number of requests have ended, and then for a part of a rendering.
func (s *soaked) await(t *testing.T, ended int) {
	t.Helper()
	for looks := 0; s.load.Ended() < ended; looks++ {
		if looks == soakPatience {
			s.stuck(t)
		}
		time.Sleep(lookEvery)
	}
	time.Sleep(time.Duration(s.random.Int64N(int64(2 * time.Second))))
}

// stuck ends the test, and prints the server's log and goroutines.
func (s *soaked) stuck(t *testing.T) {
	t.Helper()
	_ = s.process.Process.Signal(syscall.SIGQUIT) // a Go program then prints its goroutines
	time.Sleep(time.Second)
	lines := s.log.with("")
	t.Fatalf("%d requests have ended, and no other for a long time; the server says: %s",
		s.load.Ended(), strings.Join(lines[max(0, len(lines)-500):], "\n"))
}

// die kills the server, and notes the requests that it completed.
func (s *soaked) die() {
	s.kill()
	s.note()
}

// note notes which requests the server, which has ended, completed, and which attempts it lost.
func (s *soaked) note() {
	s.ours = append(s.ours, s.log.with("class="+string(failure.OfOurs))...)
	for _, line := range s.log.with("msg=completed") {
		_, id, _ := strings.Cut(line, "request=")
		id, _, _ = strings.Cut(id, " ")
		s.completed[id]++
	}
}

// finish waits for the end of the load and stops the server.
func (s *soaked) finish(t *testing.T) {
	t.Helper()
	for before, looks := 0, 0; ; looks++ {
		select {
		case err := <-s.done:
			if err != nil {
				t.Fatal(err)
			}
			if err := s.stop(t); err != nil {
				t.Error(err)
			}
			s.note()
			return
		case <-time.After(lookEvery):
		}
		if now := s.load.Ended(); now > before {
			before, looks = now, 0
		}
		if looks == soakPatience {
			s.stuck(t)
		}
	}
}

// check checks the records and files of a data folder that no server uses.
func (s *soaked) check(t *testing.T, data, faults string) soak.Report {
	t.Helper()
	took := time.Since(s.began)
	tidyAll(t, data)                        // a kill leaves the media of a call whose record wasn't made yet
	if len(s.load.Tokens) == soakAccounts { // otherwise requests of others are there too
		wantOnlyNamedFiles(t, data, s.load.Jobs)
	}
	folder, err := datafolder.Open(context.Background(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	report, err := s.load.Check(t.Context(), serviceOn(t, folder), func(id string) int { return s.completed[id] })
	if err != nil {
		t.Fatal(err)
	}
	report.Print(t, faults, took)
	if n := len(s.ours); n > 0 {
		t.Logf("the server's log has %d attempts that were lost to faults of ours:\n%s", n, strings.Join(s.ours[:min(n, 5)], "\n"))
	}
	return report
}

// TestSoakKills_long kills the server again and again at random moments, and starts it again
// each time.
func TestSoakKills_long(t *testing.T) {
	t.Parallel()
	s, data := newSoaked(t), t.TempDir()
	s.use(startServer(t, data, soakArgs()...))
	for n := range soakAccounts {
		s.load.Tokens = append(s.load.Tokens, newKey(t, data, "--account", fmt.Sprint("account-", n)))
	}
	s.start(t)
	for _, ended := range s.moments() {
		s.await(t, ended)
		s.die()
		s.use(startServer(t, data, soakArgs()...))
	}
	s.finish(t)
	if report := s.check(t, data, fmt.Sprintf("%d kill -9", *soakFaults)); report.Failed > 0 {
		t.Error("requests failed, though a kill costs them no attempt")
	}
}

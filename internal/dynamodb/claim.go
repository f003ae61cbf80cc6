package dynamodb

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/lipsync"
)

// claimPage is how many of the oldest open requests a claim looks at. Where there are no
// more, it has seen them all.
const claimPage = 99

// maxPutOff is how many requests a claim looks at that were put off and may be claimed again,
// those first that may be for the longest time.
const maxPutOff = 800

// maxSurveys is how often a claim looks anew after others took all that it saw.
const maxSurveys = 3

// Claim implements lipsync.Leases.
func (s *Store) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration) (lipsync.Request, error) {
	r, err := s.claim(ctx, id, token, now, lease)
	if err == nil {
		s.noteClaim(ctx, r.Account, now)
	}
	return r, err
}

func (s *Store) claim(ctx context.Context, id, token string, now time.Time, lease time.Duration) (lipsync.Request, error) {
	final := false // whether the last request that was tried is
	claim := func(r stored) (stored, error) {
		if r.Lease == token {
			return r, nil // a try whose answer was lost
		}
		final = r.Status.Final()
		if !r.claimable(now) {
			return stored{}, notFound()
		}
		if r.Lease != "" {
			r.EndDelays()
		}
		r.Status, r.Lease, r.LeaseUntil = lipsync.Processing, token, now.Add(lease)
		r.Claims, r.Attempts, r.Progress = r.Claims+1, r.Attempts+1, lipsync.Progress{}
		if r.StartedAt.IsZero() {
			r.StartedAt = now
		}
		return r, nil
	}
	if id != "" {
		return s.change(ctx, id, nil, claim)
	}
	for range maxSurveys {
		v, err := s.survey(ctx, now)
		if err != nil {
			return lipsync.Request{}, err
		}
		for c, ok := v.next(); ok; c, ok = v.next() {
			claimed, err := s.change(ctx, c.id, c.seen, claim)
			if lipsync.CodeOf(err) != lipsync.NotFound {
				return claimed, err
			}
			switch {
			case !final: // another worker was faster
				v.running[c.account]++
			case c.seen == nil:
				s.endTurn(ctx, c.id)
			}
		}
		if v.whole {
			break
		}
	}
	return lipsync.Request{}, notFound()
}

// candidate is a request that seems to wait.
type candidate struct {
	id, account string
	created     time.Time
	seen        *stored // nil if only its turn was seen
}

// survey is what a claim chooses from: hints, since the index may lag.
type survey struct {
	running map[string]int         // leases, by account
	waiting map[string][]candidate // oldest first, by account
	claimed map[string]time.Time   // the last time, by account; of some
	known   map[string]bool        // ids of requests
	whole   bool                   // whether nothing that waits is missing
}

// survey looks at all that is held, at what was put off until now or before, and at the oldest
// that waits; and at the turns of all accounts, if more waits than that.
func (s *Store) survey(ctx context.Context, now time.Time) (*survey, error) {
	v := &survey{running: make(map[string]int), waiting: make(map[string][]candidate), known: make(map[string]bool)}
	all, err := s.readHeld(ctx, v, now)
	if err != nil {
		return nil, err
	}
	n, err := s.readOpen(ctx, v, now)
	if v.whole = all && n <= claimPage; err == nil && n > claimPage {
		err = s.addTurns(ctx, v)
	}
	if err == nil {
		v.claimed, err = s.lastClaims(ctx, v.fewest(), now)
	}
	return v, err
}

// fewest returns the accounts with the fewest leases, in random order.
func (v *survey) fewest() (accounts []string) {
	least := math.MaxInt
	for account := range v.waiting {
		least = min(least, v.running[account])
	}
	for account := range v.waiting {
		if v.running[account] == least {
			accounts = append(accounts, account)
		}
	}
	return accounts
}

// inPartition asks for all of a partition of the index.
func inPartition(partition string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		IndexName:                 aws.String(OpenIndex),
		KeyConditionExpression:    aws.String("#open = :open"),
		ExpressionAttributeValues: item{":open": text(partition)},
	}
}

// heldAt asks for what is held, and what was put off and may be claimed again at now.
func heldAt(now time.Time) *dynamodb.QueryInput {
	in := inPartition(heldRequests)
	in.KeyConditionExpression = aws.String("#open = :open AND #openAt < :later")
	in.ExpressionAttributeValues[":later"] = text(putOff + padded(now.UnixMicro()+1))
	return in
}

// readHeld adds what is held to the survey, and up to maxPutOff of what may be claimed again.
// It reports whether that was all.
func (s *Store) readHeld(ctx context.Context, v *survey, now time.Time) (all bool, err error) {
	left := maxPutOff
	for i, err := range s.query(ctx, math.MaxInt, heldAt(now)) {
		if err != nil {
			return false, err
		}
		r, err := decodeRequest(i)
		if err != nil {
			return false, err
		}
		if v.see(r, now); r.claimable(now) {
			left--
		}
		if left == 0 {
			return false, nil
		}
	}
	return true, nil
}

// readOpen adds the oldest of what may be claimed at once to the survey, and returns how many
// there were: one more than claimPage at most.
func (s *Store) readOpen(ctx context.Context, v *survey, now time.Time) (n int, err error) {
	for i, err := range s.query(ctx, claimPage+1, inPartition(openRequests)) {
		if err != nil {
			return n, err
		}
		r, err := decodeRequest(i)
		if err != nil {
			return n, err
		}
		v.see(r, now)
		n++
	}
	return n, nil
}

// see adds a request that may be claimed, or counts the lease of one that is held.
func (v *survey) see(r stored, now time.Time) {
	switch {
	case r.claimable(now):
		v.add(candidate{r.ID, r.Account, r.CreatedAt, &r})
	case r.Lease != "" && !v.known[r.ID]:
		v.known[r.ID] = true
		v.running[r.Account]++
	}
}

// add adds a request, unless it is there already. Of each account the oldest comes first.
func (v *survey) add(c candidate) {
	if v.known[c.id] {
		return
	}
	v.known[c.id] = true
	line := append(v.waiting[c.account], c)
	for i := len(line) - 1; i > 0 && line[i].before(line[i-1]) < 0; i-- {
		line[i], line[i-1] = line[i-1], line[i]
	}
	v.waiting[c.account] = line
}

func (c candidate) before(other candidate) int {
	return cmp.Or(c.created.Compare(other.created), cmp.Compare(c.id, other.id))
}

// next takes the oldest request of the account with the fewest leases, or of that one of
// several whose last claim is the longest ago.
func (v *survey) next() (next candidate, ok bool) {
	for account, line := range v.waiting {
		if len(line) == 0 {
			continue
		}
		fewer := cmp.Compare(v.running[account], v.running[next.account])
		earlier := v.claimed[account].Compare(v.claimed[next.account])
		if !ok || cmp.Or(fewer, earlier, line[0].before(next)) < 0 {
			next, ok = line[0], true
		}
	}
	if ok {
		v.waiting[next.account] = v.waiting[next.account][1:]
	}
	return next, ok
}

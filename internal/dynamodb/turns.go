package dynamodb

import (
	"context"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// turns is the partition of the index that has what waits by account, and then by time of
// creation: however much of one account waits, that of another is a call away.
const turns = "turn"

// turnLife is how long the item of a turn stays that is over.
const turnLife = 24 * time.Hour

// How much a claim reads of turns: turnPage of them in each call, and at most maxTurnPages calls.
const (
	turnPage     = 100
	maxTurnPages = 8
)

func turnKey(id string) item { return key("request/"+id, "turn") }

// turn returns the item that is in the index while the request may be claimed at once.
func (r *stored) turn() item {
	i := turnKey(r.ID)
	if r.Status.Final() || !r.LeaseUntil.IsZero() {
		i[TimeToLive] = expiry(r.StartedAt.Add(turnLife))
		return i
	}
	i = with(encode([]field{{"id", &r.ID}, {"account", &r.Account}, {"createdAt", &r.CreatedAt}}), i)
	i[OpenPartition] = text(turns)
	i[OpenSort] = text(digest(r.Account) + "/" + padded(r.CreatedAt.UnixMicro()) + "/" + r.ID)
	return i
}

// behind is a place behind all turns of the account.
func behind(account string) string { return digest(account) + "0" } // 0 is the next character after /

// endTurn ends the turn of a final request: a runner of an older version leaves it. An
// error here costs the next claim a call.
func (s *Store) endTurn(ctx context.Context, id string) {
	_, _ = s.update(ctx, change{key: turnKey(id), remove: []string{OpenPartition, OpenSort}})
}

// addTurns adds the oldest turns of all accounts, if a few calls reach them all. Else it
// adds those of some accounts at random.
func (s *Store) addTurns(ctx context.Context, v *survey) error {
	all, err := s.readTurns(ctx, "")
	if err == nil && !all.end {
		all, err = s.readTurns(ctx, digest(strconv.FormatUint(rand.Uint64(), 36)))
	}
	for _, c := range all.turns {
		v.add(c)
	}
	return err
}

// reading is what was read of turns, and whether it reached their end.
type reading struct {
	turns []candidate
	end   bool
}

// readTurns reads page after page from a place on. Between two pages it goes on to the
// next account, and from the end to the beginning.
func (s *Store) readTurns(ctx context.Context, from string) (all reading, err error) {
	after, wrapped := from, from == ""
	for range maxTurnPages {
		n, last := 0, ""
		for i, err := range s.query(ctx, turnPage, &dynamodb.QueryInput{
			IndexName:                 aws.String(OpenIndex),
			KeyConditionExpression:    aws.String("#open = :turns AND #openAt > :after"),
			ExpressionAttributeValues: item{":turns": text(turns), ":after": text(after + " ")}, // no key is ""
		}) {
			if err != nil {
				return all, err
			}
			var c candidate
			if err := decode(i, []field{{"id", &c.id}, {"account", &c.account}, {"createdAt", &c.created}}); err != nil {
				return all, err
			}
			all.turns = append(all.turns, c)
			n, last = n+1, c.account
		}
		switch {
		case n == turnPage:
			after = behind(last)
		case wrapped:
			all.end = true
			return all, nil
		default:
			after, wrapped = "", true
		}
	}
	return all, nil
}

package dynamodb

import (
	"context"
	"strconv"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// Uses of an API key with a limit are counted in the key's item, on the condition that the limit
// is not reached. Uses of a key without a limit are counted in lanes.

func usesKey(id string, lane int) item {
	return key("used/"+digest(id)+"/"+strconv.Itoa(lane), "used")
}

// useKey returns the change that counts a request among the uses of its key.
func useKey(r lipsync.Request, seen snapshot) change {
	if seen.unlimited {
		return change{key: usesKey(r.KeyID, shardOf(r.ID, lanes)), add: item{"used": number(1)}}
	}
	return change{
		key: hashKey(seen.hash), add: item{"used": number(1)},
		condition: "attribute_exists(#pk) AND (attribute_not_exists(#limit) OR attribute_not_exists(#used) OR #used < #limit)",
		refused:   failure.New(failure.TokenLimit, "token limit reached"),
	}
}

// countUses adds the uses counted in lanes to Used of the keys, and subtracts those that were
// given back.
func (s *Store) countUses(ctx context.Context, keys []lipsync.Key) error {
	var where []item
	for _, k := range keys {
		where = append(where, freedKey(k.ID))
		for lane := range lanes {
			where = append(where, usesKey(k.ID, lane))
		}
	}
	found, err := s.getAll(ctx, where)
	if err != nil {
		return err
	}
	for n, i := range found {
		var used, freed int64
		if err := decode(i, fields{"used": &used, "freed": &freed}); err != nil {
			return err
		}
		keys[n/(1+lanes)].Used += used - freed
	}
	return nil
}

// freedKey is the key of the item that counts the uses given back to a key and not yet subtracted
// from its counter. It is an item of its own because runners write it, and runners must not be
// able to write keys.
func freedKey(id string) item { return key("freed/"+digest(id), "freed") }

// free gives one use back to the key, for a request that failed through no fault of its client.
func (s *Store) free(keyID string) step {
	return change{key: freedKey(keyID), add: item{"freed": number(1)}}.step(s.table)
}

// settle subtracts the uses that were given back from the key's counter. If that succeeds, it
// returns conflict, so that the caller reads the key again.
func (s *Store) settle(ctx context.Context, keyID string, seen snapshot) error {
	err := s.transact(ctx, []step{
		change{key: hashKey(seen.hash), add: item{"used": number(-seen.freed)}}.step(s.table),
		change{
			key: freedKey(keyID), add: item{"freed": number(-seen.freed)},
			condition: "#freed = :seen", values: item{"seen": number(seen.freed)}, refused: conflict{},
		}.step(s.table),
	})
	if err == nil {
		err = conflict{}
	}
	return err
}

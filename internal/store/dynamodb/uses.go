package dynamodb

import (
	"context"
	"strconv"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// Uses of an API key with a limit are counted in the key's item, on the condition that the limit
// is not reached. Uses of a key without a limit are counted in lanes.

func usesKey(id string, lane int) table.Item {
	return table.Key("used/"+table.Digest(id)+"/"+strconv.Itoa(lane), "used")
}

// useKey returns the change that counts a request among the uses of its key.
func useKey(r lipsync.Request, seen snapshot) table.Change {
	if seen.unlimited {
		return table.Change{Key: usesKey(r.KeyID, table.ShardOf(r.ID, table.Lanes)), Add: table.Item{"used": table.Number(1)}}
	}
	return table.Change{
		Key: hashKey(seen.hash), Add: table.Item{"used": table.Number(1)},
		Condition: "attribute_exists(#pk) AND (attribute_not_exists(#limit) OR attribute_not_exists(#used) OR #used < #limit)",
		Refused:   failure.New(failure.TokenLimit, "token limit reached"),
	}
}

// countUses adds the uses counted in lanes to Used of the keys, and subtracts those that were
// given back.
func (s *Store) countUses(ctx context.Context, keys []lipsync.Key) error {
	var where []table.Item
	for _, k := range keys {
		where = append(where, freedKey(k.ID))
		for lane := range table.Lanes {
			where = append(where, usesKey(k.ID, lane))
		}
	}
	found, err := s.table.GetAll(ctx, where)
	if err != nil {
		return err
	}
	for n, i := range found {
		var used, freed int64
		if err := table.Decode(i, table.Fields{"used": &used, "freed": &freed}); err != nil {
			return err
		}
		keys[n/(1+table.Lanes)].Used += used - freed
	}
	return nil
}

// freedKey is the key of the item that counts the uses given back to a key and not yet subtracted
// from its counter. It is an item of its own because runners write it, and runners must not be
// able to write keys.
func freedKey(id string) table.Item { return table.Key("freed/"+table.Digest(id), "freed") }

// free gives one use back to the key, for a request that failed through no fault of its client.
func (s *Store) free(keyID string) table.Step {
	return s.table.Step(table.Change{Key: freedKey(keyID), Add: table.Item{"freed": table.Number(1)}})
}

// settle subtracts the uses that were given back from the key's counter. If that succeeds, it
// returns conflict, so that the caller reads the key again.
func (s *Store) settle(ctx context.Context, keyID string, seen snapshot) error {
	err := s.table.Transact(ctx, []table.Step{
		s.table.Step(table.Change{Key: hashKey(seen.hash), Add: table.Item{"used": table.Number(-seen.freed)}}),
		s.table.Step(table.Change{
			Key: freedKey(keyID), Add: table.Item{"freed": table.Number(-seen.freed)},
			Condition: "#freed = :seen", Values: table.Item{"seen": table.Number(seen.freed)}, Refused: table.Conflict{},
		}),
	})
	if err == nil {
		err = table.Conflict{}
	}
	return err
}

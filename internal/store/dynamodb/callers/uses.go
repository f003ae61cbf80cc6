package callers

import (
	"context"
	"errors"
	"strconv"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// Uses of an API key with a limit are counted in the key's item, on the condition that the limit
// is not reached. Uses of a key without a limit are counted in lanes.

func usesKey(id string, lane int) table.Item {
	return table.Key(used+table.Digest(id)+"/"+strconv.Itoa(lane), "used")
}

// Use is what a create reads of the API key that makes the request, to count one use of it.
type Use struct {
	keyID     string
	hash      [32]byte
	unlimited bool  // whether the key is known to have no limit
	freed     int64 // uses given back to the key and not yet subtracted
}

// UseKeys returns the keys of the two items from which DecodeUse reads the use of an API key.
func UseKeys(keyID string) []table.Item { return []table.Item{keyPointer(keyID), freedKey(keyID)} }

// DecodeUse returns the use of the API key, from the items with the UseKeys.
func DecodeUse(keyID string, items []table.Item) (u Use, err error) {
	u.keyID = keyID
	err = errors.Join(
		table.Decode(items[0], table.Fields{"hash": &u.hash, "unlimited": &u.unlimited}),
		table.Decode(items[1], table.Fields{"freed": &u.freed}))
	return u, err
}

// Count returns the change that counts the request with the id among the uses of its key.
func (u Use) Count(id string) table.Change {
	if u.unlimited {
		return table.Change{Key: usesKey(u.keyID, table.ShardOf(id, table.Lanes)), Add: table.Item{"used": table.Number(1)}}
	}
	return table.Change{
		Key: hashKey(u.hash), Add: table.Item{"used": table.Number(1)},
		Condition: "attribute_exists(#pk) AND (attribute_not_exists(#limit) OR attribute_not_exists(#used) OR #used < #limit)",
		Refused:   failure.New(failure.TokenLimit, "token limit reached"),
	}
}

// countUses adds the uses counted in lanes to Used of the keys, and subtracts those that were
// given back.
func (s Keys) countUses(ctx context.Context, keys []lipsync.Key) error {
	var where []table.Item
	for _, k := range keys {
		where = append(where, freedKey(k.ID))
		for lane := range table.Lanes {
			where = append(where, usesKey(k.ID, lane))
		}
	}
	found, err := s.Table.GetAll(ctx, where)
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
func freedKey(id string) table.Item { return table.Key(freed+table.Digest(id), "freed") }

// Free returns the change that gives one use back to the key, for a request that failed through no fault of its client.
func Free(keyID string) table.Change {
	return table.Change{Key: freedKey(keyID), Add: table.Item{"freed": table.Number(1)}}
}

// Settle subtracts the uses that were given back from the key's counter, if there are any. If that succeeds, it
// returns table.Conflict, so that the caller reads the key again.
func (u Use) Settle(ctx context.Context, t *table.Table) error {
	if u.freed <= 0 {
		return nil
	}
	err := t.Transact(ctx, []table.Step{
		t.UpdateStep(table.Change{Key: hashKey(u.hash), Add: table.Item{"used": table.Number(-u.freed)}}),
		t.UpdateStep(table.Change{
			Key: freedKey(u.keyID), Add: table.Item{"freed": table.Number(-u.freed)},
			Condition: "#freed = :seen", Values: table.Item{"seen": table.Number(u.freed)}, Refused: table.Conflict{},
		}),
	})
	if err == nil {
		err = table.Conflict{}
	}
	return err
}

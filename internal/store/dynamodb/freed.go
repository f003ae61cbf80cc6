package dynamodb

import "context"

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

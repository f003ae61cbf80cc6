package dynamodb

import "context"

// freedKey is the item that counts the uses which were given back to a key and are not
// taken off its own counter yet. Runners write it, who must not be able to write a key.
func freedKey(id string) item { return key("freed/"+digest(id), "freed") }

// free takes a request that failed through no fault of its client off the uses of its
// key.
func (s *Store) free(keyID string) step {
	return change{key: freedKey(keyID), add: item{"freed": number(1)}}.step(s.table)
}

// settle takes the uses that were given back off the key's counter, and returns moved.
func (s *Store) settle(ctx context.Context, keyID string, seen sight) error {
	err := s.transact(ctx, []step{
		change{key: hashKey(seen.hash), add: item{"used": number(-seen.freed)}}.step(s.table),
		change{
			key: freedKey(keyID), add: item{"freed": number(-seen.freed)},
			condition: "#freed = :seen", values: item{"seen": number(seen.freed)}, refused: moved{},
		}.step(s.table),
	})
	if err == nil {
		err = moved{}
	}
	return err
}

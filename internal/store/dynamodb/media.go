package dynamodb

import (
	"lipsync/internal/domain/lipsync"
)

// uncountSize subtracts the bytes of a deleted output from those that the account stores.
func (s *Store) uncountSize(r lipsync.Request) step {
	return change{key: dayKey(r), add: item{"size": number(-r.Size)}}.step(s.table)
}

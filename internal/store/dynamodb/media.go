package dynamodb

import (
	"lipsync/internal/domain/lipsync"
)

// uncountRecord subtracts the bytes of an erased record from those that the account stores.
func (s *Store) uncountRecord(r lipsync.Request) step {
	return change{key: dayKey(r), add: item{"records": number(-r.RecordSize())}}.step(s.table)
}

// uncountSize subtracts the bytes of a deleted output from those that the account stores.
func (s *Store) uncountSize(r lipsync.Request) step {
	return change{key: dayKey(r), add: item{"size": number(-r.Size)}}.step(s.table)
}

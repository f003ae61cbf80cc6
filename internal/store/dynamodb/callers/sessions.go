package callers

import (
	"context"
	"crypto/rand"

	"lipsync/internal/store/dynamodb/table"
)

// Sessions ends the sessions of accounts.
type Sessions struct{ Table *table.Table }

// sessionsKey is the key of the item with the generation of an account's sessions. The item exists
// once the account has ended its sessions.
func sessionsKey(account string) table.Item {
	return table.Key(sessions+table.Digest(account), "sessions")
}

// Generation returns the generation of the account's sessions, "" if it has ended none yet.
func (s Sessions) Generation(ctx context.Context, account string) (generation string, err error) {
	i, err := s.Table.Find(ctx, sessionsKey(account))
	if err == nil {
		err = table.Decode(i, table.Fields{"generation": &generation})
	}
	return generation, err
}

// EndAll ends all sessions of the account, which gets another generation.
func (s Sessions) EndAll(ctx context.Context, account string) error {
	_, err := s.Table.Update(ctx, table.Change{Key: sessionsKey(account), Set: table.Item{"generation": table.Text(rand.Text())}})
	return err
}

package dynamodb

import (
	"context"
	"crypto/rand"

	"lipsync/internal/store/dynamodb/table"
)

// sessionsKey is the key of the item with the generation of an account's sessions. The item exists
// once the account has ended its sessions.
func sessionsKey(account string) table.Item {
	return table.Key("sessions/"+table.Digest(account), "sessions")
}

func (s *Store) Generation(ctx context.Context, account string) (generation string, err error) {
	i, err := s.table.Find(ctx, sessionsKey(account))
	if err == nil {
		err = table.Decode(i, table.Fields{"generation": &generation})
	}
	return generation, err
}

func (s *Store) EndAll(ctx context.Context, account string) error {
	_, err := s.table.Update(ctx, table.Change{Key: sessionsKey(account), Set: table.Item{"generation": table.Text(rand.Text())}})
	return err
}

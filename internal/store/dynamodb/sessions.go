package dynamodb

import (
	"context"
	"crypto/rand"
)

// sessionsKey is the key of the item with the generation of an account's sessions. The item exists
// once the account has ended its sessions.
func sessionsKey(account string) item { return key("sessions/"+digest(account), "sessions") }

func (s *Store) Generation(ctx context.Context, account string) (generation string, err error) {
	i, err := s.find(ctx, sessionsKey(account))
	if err == nil {
		err = decode(i, fields{"generation": &generation})
	}
	return generation, err
}

func (s *Store) EndAll(ctx context.Context, account string) error {
	_, err := s.update(ctx, change{key: sessionsKey(account), set: item{"generation": text(rand.Text())}})
	return err
}

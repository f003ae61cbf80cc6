package sqlite

import (
	"context"
)

// usesObject selects whether an open request of the account has the object as an input.
const usesObject = `SELECT EXISTS (SELECT 1 FROM requests INDEXED BY requests_open_of_account
	WHERE account = ?1 AND ` + isOpen + ` AND (video_object = ?2 OR audio_object = ?2 OR tracks LIKE '%"object":"' || ?2 || '"%'))`

func (s requests) Uses(ctx context.Context, account, object string) (bool, error) {
	return one(ctx, s.Store, "uses", scanValue[bool], usesObject, account, object)
}

package dynamodb

import (
	"context"
	"strings"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// speeds implements lipsync.Speeds. Each engine has an item for each class beside that of the scaling lock, since runners may write there.
type speeds struct{ *Store }

// ofEngine precedes the name of the engine, a slash and the class in the sort key of a speed.
const ofEngine = "speed/"

func speedFields(n *lipsync.Speed) fields {
	return fields{"done": &n.Requests, "size": &n.Size, "worked": &n.Took, "inverse": &n.Inverse, "pace": &n.Pace}
}

// Note implements lipsync.Speeds. If two calls at the same time find too many requests, only one of them halves the sums.
func (s speeds) Note(ctx context.Context, engine string, c lipsync.Class, n lipsync.Speed) error {
	k := key(PoolKey, ofEngine+engine+"/"+string(c))
	i, err := s.update(ctx, change{key: k, add: encode(speedFields(&n)), tells: true})
	if err != nil {
		return err
	}
	var sum lipsync.Speed
	if err := decode(i, speedFields(&sum)); err != nil || sum.Requests <= lipsync.RecentWork {
		return err
	}
	half := lipsync.Speed{Requests: -sum.Requests / 2, Size: -sum.Size / 2, Took: -sum.Took / 2, Inverse: -sum.Inverse / 2, Pace: -sum.Pace / 2}
	done := failure.New(failure.Conflict, "another halved the sums")
	_, err = s.update(ctx, change{
		key: k, add: encode(speedFields(&half)),
		condition: "#done = :seen", values: item{"seen": number(sum.Requests)}, refused: done,
	})
	if err == done {
		return nil
	}
	return err
}

func (s speeds) All(ctx context.Context) (lipsync.Measured, error) {
	all := lipsync.Measured{}
	for i, err := range s.query(ctx, maxPage, inTable(PoolKey, "> :speeds", item{":speeds": text(ofEngine)})) {
		var sort string
		var n lipsync.Speed
		if err == nil {
			err = decode(i, with(speedFields(&n), fields{SortKey: &sort}))
		}
		if err != nil {
			return nil, err
		}
		engine, class, _ := strings.Cut(strings.TrimPrefix(sort, ofEngine), "/")
		all[lipsync.EngineClass{Engine: engine, Class: lipsync.Class(class)}] = n
	}
	return all, nil
}

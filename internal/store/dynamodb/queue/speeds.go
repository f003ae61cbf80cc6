package queue

import (
	"context"
	"math"
	"strings"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// Speeds has the Speed of each engine and class. Each engine has an item for each class beside that of the scaling lock, since runners may write there.
type Speeds struct{ Table *table.Table }

// ofEngine precedes the name of the engine, a slash and the class in the sort key of a speed.
const ofEngine = "speed/"

func speedFields(n *lipsync.Speed) table.Fields {
	return table.Fields{"done": &n.Requests, "size": &n.Size, "worked": &n.Took, "inverse": &n.Inverse, "pace": &n.Pace}
}

// Note adds a Speed. If two calls at the same time find too many requests, only one of them halves the sums.
func (s Speeds) Note(ctx context.Context, engine string, c lipsync.Class, n lipsync.Speed) error {
	k := table.Key(PoolKey, ofEngine+engine+"/"+string(c))
	i, err := s.Table.Update(ctx, table.Change{Key: k, Add: table.Encode(speedFields(&n)), Tells: true})
	if err != nil {
		return err
	}
	var sum lipsync.Speed
	if err := table.Decode(i, speedFields(&sum)); err != nil || sum.Requests <= lipsync.RecentWork {
		return err
	}
	half := lipsync.Speed{Requests: -sum.Requests / 2, Size: -sum.Size / 2, Took: -sum.Took / 2, Inverse: -sum.Inverse / 2, Pace: -sum.Pace / 2}
	done := failure.New(failure.Conflict, "another halved the sums")
	_, err = s.Table.Update(ctx, table.Change{
		Key: k, Add: table.Encode(speedFields(&half)),
		Condition: "#done = :seen", Values: table.Item{"seen": table.Number(sum.Requests)}, Refused: done,
	})
	if err == done {
		return nil
	}
	return err
}

func (s Speeds) All(ctx context.Context) (lipsync.Measured, error) {
	all := lipsync.Measured{}
	for i, err := range s.Table.Query(ctx, math.MaxInt, table.InTable(PoolKey, "> :speeds", table.Item{":speeds": table.Text(ofEngine)})) {
		var sort string
		var n lipsync.Speed
		if err == nil {
			err = table.Decode(i, table.With(speedFields(&n), table.Fields{table.SortKey: &sort}))
		}
		if err != nil {
			return nil, err
		}
		engine, class, _ := strings.Cut(strings.TrimPrefix(sort, ofEngine), "/")
		all[lipsync.EngineClass{Engine: engine, Class: lipsync.Class(class)}] = n
	}
	return all, nil
}

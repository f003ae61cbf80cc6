package table

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Decoder returns the function that decodes a record of its fields.
func Decoder[T any](fields func(*T) Fields) func(Item) (T, error) {
	return func(i Item) (t T, err error) {
		err = Decode(i, fields(&t))
		return t, err
	}
}

// One returns the record in the item with the key, or NotFound.
func One[T any](ctx context.Context, t *Table, key Item, decode func(Item) (T, error)) (one T, err error) {
	i, err := t.Get(ctx, key)
	if err != nil {
		return one, err
	}
	return decode(i)
}

// Many returns the records in the items that a query finds, limit at most.
func Many[T any](ctx context.Context, t *Table, limit int, in *dynamodb.QueryInput, decode func(Item) (T, error)) (all []T, err error) {
	for i, err := range t.Query(ctx, limit, in) {
		var one T
		if err == nil {
			one, err = decode(i)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// Existing returns the records in those items with the keys that exist. It reads those attributes only that the projection names, or all if it is "".
func Existing[T any](ctx context.Context, t *Table, keys []Item, projection string, decode func(Item) (T, error)) (all []T, err error) {
	items, err := t.getAllOf(ctx, keys, projection)
	for _, i := range items {
		if i == nil {
			continue
		}
		one, err := decode(i)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, err
}

// KeysOf returns the key of each record.
func KeysOf[T any](all []T, key func(T) Item) (keys []Item) {
	for _, t := range all {
		keys = append(keys, key(t))
	}
	return keys
}

// Gather returns what f returns for each number from 0 to n-1. It calls f for all at once.
func Gather[T any](n int, f func(n int) ([]T, error)) ([]T, error) {
	parts := make([][]T, n)
	err := Together(n, func(i int) (err error) {
		parts[i], err = f(i)
		return err
	})
	return slices.Concat(parts...), err
}

// Total returns the sum of what f returns for each number from 0 to n-1. It calls f for all at once.
func Total(n int, f func(n int) (int, error)) (sum int, err error) {
	counts, err := Gather(n, func(n int) ([]int, error) {
		count, err := f(n)
		return []int{count}, err
	})
	for _, count := range counts {
		sum += count
	}
	return sum, err
}

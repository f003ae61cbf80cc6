package dynamodb

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// decoder returns the function that decodes a record of its fields.
func decoder[T any](fields func(*T) fields) func(item) (T, error) {
	return func(i item) (t T, err error) {
		err = decode(i, fields(&t))
		return t, err
	}
}

// one returns the record in the item with the key, or NotFound.
func one[T any](ctx context.Context, s *Store, key item, decode func(item) (T, error)) (t T, err error) {
	i, err := s.get(ctx, key)
	if err != nil {
		return t, err
	}
	return decode(i)
}

// many returns the records in the items that a query finds, limit at most.
func many[T any](ctx context.Context, s *Store, limit int, in *dynamodb.QueryInput, decode func(item) (T, error)) (all []T, err error) {
	for i, err := range s.query(ctx, limit, in) {
		var t T
		if err == nil {
			t, err = decode(i)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// existing returns the records in those items with the keys that exist.
func existing[T any](ctx context.Context, s *Store, keys []item, decode func(item) (T, error)) (all []T, err error) {
	items, err := s.getAll(ctx, keys)
	return decodeExisting(items, err, decode)
}

// decodeExisting returns the records in those items that exist, or the error err.
func decodeExisting[T any](items []item, err error, decode func(item) (T, error)) (all []T, _ error) {
	for _, i := range items {
		if i == nil {
			continue
		}
		t, err := decode(i)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, err
}

// keysOf returns the key of each record.
func keysOf[T any](all []T, key func(T) item) (keys []item) {
	for _, t := range all {
		keys = append(keys, key(t))
	}
	return keys
}

// gather returns what f returns for each number from 0 to n-1. It calls f for all at once.
func gather[T any](n int, f func(n int) ([]T, error)) ([]T, error) {
	parts := make([][]T, n)
	err := together(n, func(i int) (err error) {
		parts[i], err = f(i)
		return err
	})
	return slices.Concat(parts...), err
}

// total returns the sum of what f returns for each number from 0 to n-1. It calls f for all at once.
func total(n int, f func(n int) (int, error)) (sum int, err error) {
	counts, err := gather(n, func(n int) ([]int, error) {
		count, err := f(n)
		return []int{count}, err
	})
	for _, count := range counts {
		sum += count
	}
	return sum, err
}

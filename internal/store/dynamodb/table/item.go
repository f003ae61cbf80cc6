package table

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item of the table, a key, or some attributes.
type Item = map[string]types.AttributeValue

// Key returns the key attributes of an item.
func Key(partition, sort string) Item {
	return Item{PartitionKey: Text(partition), SortKey: Text(sort)}
}

// With adds more to the map, in place, and returns it.
func With[M ~map[string]V, V any](to, more M) M {
	maps.Copy(to, more)
	return to
}

// address returns the item's key as one string.
func address(i Item) string {
	var partition, sort string
	_ = Decode(i, Fields{PartitionKey: &partition, SortKey: &sort}) // both are strings in every item
	return partition + "\n" + sort
}

// Digest returns a string of bounded length that stands for any text of a client in a key.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Padded returns a number that is not negative as a string that sorts like it.
func Padded(n int64) string { return fmt.Sprintf("%019d", n) }

// Place returns a sort key: of items with such keys, those of earlier times come first, and of one time those with smaller ids.
func Place(at time.Time, id string) string { return Padded(at.UnixMicro()) + "/" + id }

func Text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func Number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// Micros returns a time as the table stores it: in microseconds since 1970.
func Micros(t time.Time) types.AttributeValue { return Number(t.UnixMicro()) }

// Expiry returns a time as a value of TimeToLive, which has whole seconds: the item may be deleted
// in the second after it.
func Expiry(t time.Time) types.AttributeValue { return Number(t.Unix() + 1) }

// Fields has pointers to the values of a record, by the names of attributes. A value is a string, bool, int, int64,
// time.Time, time.Duration or [32]byte. Zero values are not stored.
type Fields map[string]any

// Encode returns the attributes of the fields.
func Encode(all Fields) Item {
	i := make(Item)
	for name, value := range all {
		if v := attributeOf(value); v != nil {
			i[name] = v
		}
	}
	return i
}

// attributeOf returns the attribute of a field's value, or nil for a zero one.
func attributeOf(value any) types.AttributeValue {
	switch v := value.(type) {
	case *string:
		if *v != "" {
			return Text(*v)
		}
	case *bool:
		if *v {
			return &types.AttributeValueMemberBOOL{Value: true}
		}
	case *int:
		if *v != 0 {
			return Number(int64(*v))
		}
	case *int64:
		if *v != 0 {
			return Number(*v)
		}
	case *time.Time:
		if !v.IsZero() {
			return Micros(*v)
		}
	case *time.Duration:
		if *v != 0 {
			return Number(v.Microseconds())
		}
	case *[32]byte:
		if *v == [32]byte{} {
			return nil
		}
		return &types.AttributeValueMemberB{Value: v[:]}
	}
	return nil
}

// Decode sets the fields from the attributes of the item. Fields must be zero before; those
// without an attribute stay so.
func Decode(i Item, all Fields) error {
	var bad []string
	for name, to := range all {
		if v, ok := i[name]; ok && !set(to, v) {
			bad = append(bad, name)
		}
	}
	if bad == nil {
		return nil
	}
	name := slices.Min(bad) // so that the error is the same each time
	return fmt.Errorf("attribute %s is not a %T: %v", name, all[name], i[name])
}

// set sets a field's value from its attribute.
func set(to any, v types.AttributeValue) (ok bool) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		to, ok := to.(*string)
		if ok {
			*to = v.Value
		}
		return ok
	case *types.AttributeValueMemberBOOL:
		to, ok := to.(*bool)
		if ok {
			*to = v.Value
		}
		return ok
	case *types.AttributeValueMemberB:
		to, ok := to.(*[32]byte)
		return ok && copy(to[:], v.Value) == len(to)
	case *types.AttributeValueMemberN:
		n, err := strconv.ParseInt(v.Value, 10, 64)
		return err == nil && setNumber(to, n)
	}
	return false
}

func setNumber(to any, n int64) (ok bool) {
	switch to := to.(type) {
	case *int:
		*to = int(n)
	case *int64:
		*to = n
	case *time.Time:
		*to = time.UnixMicro(n).UTC()
	case *time.Duration:
		*to = time.Duration(n) * time.Microsecond
	default:
		return false
	}
	return true
}

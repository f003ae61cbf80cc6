package dynamodb

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// item is an item of the table, a key, or some attributes.
type item = map[string]types.AttributeValue

// key returns the key attributes of an item.
func key(partition, sort string) item {
	return item{PartitionKey: text(partition), SortKey: text(sort)}
}

// with adds attributes, such as those of a key, to an item or to fields, and returns these.
func with[M ~map[string]V, V any](to, more M) M {
	maps.Copy(to, more)
	return to
}

// address returns the item's key as one string.
func address(i item) string {
	var partition, sort string
	_ = decode(i, fields{PartitionKey: &partition, SortKey: &sort}) // both are strings in every item
	return partition + "\n" + sort
}

// digest returns a string of bounded length that stands for any text of a client in a key.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// padded returns a number that is not negative as a string that sorts like it.
func padded(n int64) string { return fmt.Sprintf("%019d", n) }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// micros returns a time as the table stores it: in microseconds since 1970.
func micros(t time.Time) types.AttributeValue { return number(t.UnixMicro()) }

// expiry returns a time as a value of TimeToLive, which has whole seconds: the item may be deleted
// in the second after it.
func expiry(t time.Time) types.AttributeValue { return number(t.Unix() + 1) }

// fields has pointers to the values of a record, by the names of attributes. A value is a string, bool, int, int64,
// time.Time, time.Duration or [32]byte. Zero values are not stored.
type fields map[string]any

// encode returns the attributes of the fields.
func encode(all fields) item {
	i := make(item)
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
			return text(*v)
		}
	case *bool:
		if *v {
			return &types.AttributeValueMemberBOOL{Value: true}
		}
	case *int:
		if *v != 0 {
			return number(int64(*v))
		}
	case *int64:
		if *v != 0 {
			return number(*v)
		}
	case *time.Time:
		if !v.IsZero() {
			return micros(*v)
		}
	case *time.Duration:
		if *v != 0 {
			return number(v.Microseconds())
		}
	case *[32]byte:
		if *v == [32]byte{} {
			return nil
		}
		return &types.AttributeValueMemberB{Value: v[:]}
	}
	return nil
}

// decode sets the fields from the attributes of the item. Fields must be zero before; those
// without an attribute stay so.
func decode(i item, all fields) error {
	for name, to := range all {
		if v, ok := i[name]; ok && !set(to, v) {
			return fmt.Errorf("attribute %s is not a %T: %v", name, to, v)
		}
	}
	return nil
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

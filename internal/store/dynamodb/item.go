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

// with adds the key attributes to the item, and returns it.
func with(i, key item) item {
	maps.Copy(i, key)
	return i
}

// address returns the item's key as one string.
func address(i item) string {
	var partition, sort string
	_ = decode(i, []field{{PartitionKey, &partition}, {SortKey, &sort}}) // both are strings in every item
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

// field is an attribute's name and a pointer to its value in a record: a string, bool, int, int64,
// time.Time, time.Duration or [32]byte. Zero values are not stored.
type field struct {
	name  string
	value any
}

// encode returns the attributes of the fields.
func encode(fields []field) item {
	all := make(item)
	for _, f := range fields {
		if v := f.encode(); v != nil {
			all[f.name] = v
		}
	}
	return all
}

func (f field) encode() types.AttributeValue {
	switch v := f.value.(type) {
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
func decode(i item, fields []field) error {
	for _, f := range fields {
		if v, ok := i[f.name]; ok && !f.decode(v) {
			return fmt.Errorf("attribute %s is not a %T: %v", f.name, f.value, v)
		}
	}
	return nil
}

func (f field) decode(v types.AttributeValue) (ok bool) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		to, ok := f.value.(*string)
		if ok {
			*to = v.Value
		}
		return ok
	case *types.AttributeValueMemberBOOL:
		to, ok := f.value.(*bool)
		if ok {
			*to = v.Value
		}
		return ok
	case *types.AttributeValueMemberB:
		to, ok := f.value.(*[32]byte)
		return ok && copy(to[:], v.Value) == len(to)
	case *types.AttributeValueMemberN:
		n, err := strconv.ParseInt(v.Value, 10, 64)
		return err == nil && f.decodeNumber(n)
	}
	return false
}

func (f field) decodeNumber(n int64) (ok bool) {
	switch to := f.value.(type) {
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

package dynamodb

import (
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// values has a field of each type that an item can keep.
type values struct {
	text  string
	flag  bool
	count int
	size  int64
	at    time.Time
	hash  [32]byte
}

func (v *values) fields() fields {
	return fields{"text": &v.text, "flag": &v.flag, "count": &v.count, "size": &v.size, "at": &v.at, "hash": &v.hash}
}

func TestEncode(t *testing.T) {
	for _, want := range []values{
		{},
		{"ü\x00", true, -1, 1 << 62, time.UnixMicro(1).UTC(), [32]byte{1, 31: 2}},
	} {
		var got values
		i := encode(want.fields())
		if err := decode(i, got.fields()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %v (%v), want %v", got, err, want)
		}
	}
	if i := encode(new(values).fields()); len(i) != 0 {
		t.Errorf("got %v for zero values", i)
	}
}

// TestDecodeOther decodes attributes of types that are never written.
func TestDecodeOther(t *testing.T) {
	for name, v := range map[string]types.AttributeValue{
		"text": number(1), "flag": text("true"), "count": text("1"), "size": &types.AttributeValueMemberN{Value: "1.5"},
		"at": text("now"), "hash": &types.AttributeValueMemberB{Value: []byte("short")},
	} {
		if err := decode(item{name: v}, new(values).fields()); err == nil {
			t.Errorf("%s: took %v", name, v)
		}
	}
}

func TestExpression(t *testing.T) {
	none := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	for _, c := range []struct {
		change change
		text   string
		values item
		names  map[string]string
	}{
		{
			change{set: item{"added": number(2), "other": text("y")}, remove: []string{"gone"}},
			"SET #added = :added, #other = :other REMOVE #gone", item{":added": number(2), ":other": text("y")},
			map[string]string{"#added": "added", "#other": "other", "#gone": "gone", "#pk": "pk"},
		},
		{
			change{append: item{"ids": none}, add: item{"n": number(1)}},
			"SET #ids = list_append(if_not_exists(#ids, :nothing), :ids) ADD #n :n", item{":ids": none, ":nothing": none, ":n": number(1)},
			map[string]string{"#ids": "ids", "#n": "n", "#pk": "pk"},
		},
		{change{remove: []string{"a", "b"}}, "REMOVE #a, #b", nil, map[string]string{"#a": "a", "#b": "b", "#pk": "pk"}},
	} {
		got, values := c.change.expression()
		if got != c.text || !reflect.DeepEqual(values, c.values) {
			t.Errorf("got %q with %v, want %q with %v", got, values, c.text, c.values)
		}
		if got := names(got, "attribute_exists(#pk)"); !reflect.DeepEqual(got, c.names) {
			t.Errorf("got names %v, want %v", got, c.names)
		}
	}
	if got := names("", ""); got != nil {
		t.Errorf("got names %v for no expression", got)
	}
}

func TestPadded(t *testing.T) {
	for _, c := range []struct{ less, more int64 }{{0, 1}, {9, 10}, {999, 1000}, {1, 1<<63 - 1}} {
		if a, b := padded(c.less), padded(c.more); a >= b || len(a) != len(b) {
			t.Errorf("%d, %d: got %s, %s", c.less, c.more, a, b)
		}
	}
}

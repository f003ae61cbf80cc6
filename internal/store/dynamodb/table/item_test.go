package table

import (
	"reflect"
	"strings"
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

func (v *values) fields() Fields {
	return Fields{"text": &v.text, "flag": &v.flag, "count": &v.count, "size": &v.size, "at": &v.at, "hash": &v.hash}
}

func TestEncode(t *testing.T) {
	for _, want := range []values{
		{},
		{"ü\x00", true, -1, 1 << 62, time.UnixMicro(1).UTC(), [32]byte{1, 31: 2}},
	} {
		var got values
		i := Encode(want.fields())
		if err := Decode(i, got.fields()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %v (%v), want %v", got, err, want)
		}
	}
	if i := Encode(new(values).fields()); len(i) != 0 {
		t.Errorf("got %v for zero values", i)
	}
}

// TestDecodeOther decodes attributes of types that are never written.
func TestDecodeOther(t *testing.T) {
	for name, v := range map[string]types.AttributeValue{
		"text": Number(1), "flag": Text("true"), "count": Text("1"), "size": &types.AttributeValueMemberN{Value: "1.5"},
		"at": Text("now"), "hash": &types.AttributeValueMemberB{Value: []byte("short")},
	} {
		if err := Decode(Item{name: v}, new(values).fields()); err == nil {
			t.Errorf("%s: took %v", name, v)
		}
	}
	for range 20 { // the order of a map differs
		err := Decode(Item{"text": Number(1), "count": Text("1"), "flag": Text("true")}, new(values).fields())
		if err == nil || !strings.Contains(err.Error(), "attribute count ") {
			t.Fatalf("got %v, want the first by name", err)
		}
	}
}

func TestExpression(t *testing.T) {
	none := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	for _, c := range []struct {
		change Change
		text   string
		values Item
		names  map[string]string
	}{
		{
			Change{Set: Item{"added": Number(2), "other": Text("y")}, Remove: []string{"gone"}},
			"SET #added = :added, #other = :other REMOVE #gone", Item{":added": Number(2), ":other": Text("y")},
			map[string]string{"#added": "added", "#other": "other", "#gone": "gone", "#pk": "pk"},
		},
		{
			Change{Append: Item{"ids": none}, Add: Item{"n": Number(1)}},
			"SET #ids = list_append(if_not_exists(#ids, :nothing), :ids) ADD #n :n", Item{":ids": none, ":nothing": none, ":n": Number(1)},
			map[string]string{"#ids": "ids", "#n": "n", "#pk": "pk"},
		},
		{Change{Remove: []string{"b", "a"}}, "REMOVE #a, #b", nil, map[string]string{"#a": "a", "#b": "b", "#pk": "pk"}},
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
		if a, b := Padded(c.less), Padded(c.more); a >= b || len(a) != len(b) {
			t.Errorf("%d, %d: got %s, %s", c.less, c.more, a, b)
		}
	}
}

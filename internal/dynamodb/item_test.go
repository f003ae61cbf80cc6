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

func (v *values) fields() []field {
	return []field{{"text", &v.text}, {"flag", &v.flag}, {"count", &v.count}, {"size", &v.size}, {"at", &v.at}, {"hash", &v.hash}}
}

func TestEncode(t *testing.T) {
	for _, want := range []values{
		{},
		{"ü\x00", true, -1, 1 << 62, time.UnixMicro(1).UTC(), [32]byte{1, 31: 2}},
	} {
		var got values
		i := encode(want.fields())
		if err := decode(i, got.fields()); err != nil || got != want {
			t.Errorf("got %v (%v), want %v", got, err, want)
		}
	}
	if i := encode(new(values).fields()); len(i) != 1 { // the hash
		t.Errorf("got %v of nothing", i)
	}
}

// TestDecodeOther reads attributes of types that were never written.
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

func TestDiff(t *testing.T) {
	old := with(item{"same": text("x"), "other": text("x"), "gone": number(1)}, key("p", "s"))
	next := with(item{"same": text("x"), "other": text("y"), "added": number(2)}, key("p", "s"))
	got := diff(old, next)
	want := change{
		key: key("p", "s"), set: item{"other": text("y"), "added": number(2)}, remove: []string{"gone"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if c := diff(old, old); !c.empty() {
		t.Errorf("got %v, want nothing to change", c)
	}
	text, _ := want.expression()
	if want := "SET #added = :added, #other = :other REMOVE #gone"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
	wantNames := map[string]string{"#added": "added", "#other": "other", "#gone": "gone", "#pk": "pk"}
	if got := names(text, "attribute_exists(#pk)"); !reflect.DeepEqual(got, wantNames) {
		t.Errorf("got names %v, want %v", got, wantNames)
	}
}

func TestPadded(t *testing.T) {
	for _, c := range []struct{ less, more int64 }{{0, 1}, {9, 10}, {999, 1000}, {1, 1<<63 - 1}} {
		if a, b := padded(c.less), padded(c.more); a >= b || len(a) != len(b) {
			t.Errorf("%d, %d: got %s, %s", c.less, c.more, a, b)
		}
	}
}

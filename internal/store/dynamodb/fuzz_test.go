package dynamodb

import (
	"maps"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// FuzzItem reads items with one attribute changed. Each must give an error, or a record that is
// equal after writing and reading it again.
func FuzzItem(f *testing.F) {
	f.Add("status", "S", "odd")
	f.Add("createdAt", "N", "9223372036854775807")
	f.Add("attempts", "N", "1e9")
	f.Add("hash", "B", "short")
	f.Add("largestFace", "BOOL", "true")
	f.Add("pk", "N", "")
	f.Add("length", "NULL", "")
	whole := stored{Request: lipsync.Request{ID: "id", Account: "a", Status: lipsync.Processing, Engine: "warp"}, version: 7}
	f.Fuzz(func(t *testing.T, name, kind, value string) {
		i := maps.Clone(whole.item())
		i[name] = attribute(kind, value)
		r, err := decodeRequest(i, nil)
		if err == nil {
			again, err := decodeRequest(r.item(), r.leaseItem())
			if err != nil || !reflect.DeepEqual(again, r) {
				t.Errorf("%s = %s %q: got %+v, and then %+v (%v)", name, kind, value, r, again, err)
			}
		}
		var k lipsync.Key
		if err := table.Decode(table.Item{name: i[name]}, keyFields(&k)); err == nil {
			var again lipsync.Key
			if err := table.Decode(table.Encode(keyFields(&k)), keyFields(&again)); err != nil || again != k {
				t.Errorf("%s = %s %q: got key %+v, and then %+v (%v)", name, kind, value, k, again, err)
			}
		}
	})
}

// attribute returns a value of the type that DynamoDB calls kind.
func attribute(kind, value string) types.AttributeValue {
	switch kind {
	case "S":
		return table.Text(value)
	case "N":
		return &types.AttributeValueMemberN{Value: value}
	case "B":
		return &types.AttributeValueMemberB{Value: []byte(value)}
	case "BOOL":
		return &types.AttributeValueMemberBOOL{Value: value == "true"}
	case "L":
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{table.Text(value)}}
	}
	return &types.AttributeValueMemberNULL{Value: true}
}

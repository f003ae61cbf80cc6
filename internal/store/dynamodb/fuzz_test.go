package dynamodb

import (
	"maps"
	"reflect"
	"testing"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/dynamodbtest"
)

// FuzzItem reads items with one attribute changed. Each must give an error, or a record that is
// equal after writing and reading it again.
func FuzzItem(f *testing.F) {
	f.Add("status", "S", "odd")
	f.Add("createdAt", "N", "9223372036854775807")
	f.Add("attempts", "N", "1e9")
	f.Add("largestFace", "BOOL", "true")
	f.Add("pk", "N", "")
	f.Add("length", "NULL", "")
	whole := stored{Request: lipsync.Request{ID: "id", Account: "a", Status: lipsync.Processing, Engine: "warp"}, version: 7}
	f.Fuzz(func(t *testing.T, name, kind, value string) {
		i := maps.Clone(whole.item())
		i[name] = dynamodbtest.Attribute(kind, value)
		r, err := decodeRequest(i, nil)
		if err == nil {
			again, err := decodeRequest(r.item(), r.leaseItem())
			if err != nil || !reflect.DeepEqual(again, r) {
				t.Errorf("%s = %s %q: got %+v, and then %+v (%v)", name, kind, value, r, again, err)
			}
		}
	})
}

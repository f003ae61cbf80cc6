package callers

import (
	"strings"
	"testing"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
	"lipsync/internal/test/dynamodbtest"
)

// FuzzKey reads API keys with one attribute. Each must give an error, or a key that is equal after writing and reading it again.
func FuzzKey(f *testing.F) {
	f.Add("createdAt", "N", "9223372036854775807")
	f.Add("limit", "N", "1e9")
	f.Add("hash", "B", "short")
	f.Add("hash", "B", strings.Repeat("h", 32))
	f.Add("readOnly", "BOOL", "true")
	f.Add("account", "NULL", "")
	f.Fuzz(func(t *testing.T, name, kind, value string) {
		var k, again lipsync.Key
		if err := table.Decode(table.Item{name: dynamodbtest.Attribute(kind, value)}, keyFields(&k)); err != nil {
			return
		}
		if err := table.Decode(table.Encode(keyFields(&k)), keyFields(&again)); err != nil || again != k {
			t.Errorf("%s = %s %q: got key %+v, and then %+v (%v)", name, kind, value, k, again, err)
		}
	})
}

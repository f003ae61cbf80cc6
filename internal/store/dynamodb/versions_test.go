package dynamodb_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/store/disk"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/lipsynctest"
)

var keep = flag.Bool("keep", false, "TestItemsOfVersions keeps the items that this version writes in testdata, if none are like them")

// value is an attribute in testdata, in DynamoDB's JSON.
type value struct {
	S    *string `json:",omitempty"`
	N    *string `json:",omitempty"`
	B    []byte  `json:",omitempty"`
	BOOL *bool   `json:",omitempty"`
	L    []value `json:",omitempty"`
}

// typed returns the attribute in the form of testdata.
func typed(attribute types.AttributeValue) (v value) {
	switch a := attribute.(type) {
	case *types.AttributeValueMemberS:
		v.S = &a.Value
	case *types.AttributeValueMemberN:
		v.N = &a.Value
	case *types.AttributeValueMemberB:
		v.B = a.Value
	case *types.AttributeValueMemberBOOL:
		v.BOOL = &a.Value
	case *types.AttributeValueMemberL:
		for _, each := range a.Value {
			v.L = append(v.L, typed(each))
		}
	default:
		panic(fmt.Sprintf("an attribute is a %T", attribute))
	}
	return v
}

// attribute returns the attribute that the value in testdata stands for.
func (v value) attribute() types.AttributeValue {
	switch {
	case v.S != nil:
		return &types.AttributeValueMemberS{Value: *v.S}
	case v.N != nil:
		return &types.AttributeValueMemberN{Value: *v.N}
	case v.BOOL != nil:
		return &types.AttributeValueMemberBOOL{Value: *v.BOOL}
	case v.L != nil:
		var list []types.AttributeValue
		for _, each := range v.L {
			list = append(list, each.attribute())
		}
		return &types.AttributeValueMemberL{Value: list}
	default:
		return &types.AttributeValueMemberB{Value: v.B}
	}
}

// TestItemsOfVersions works with tables that each version of the program wrote. An upgrade does
// not rewrite items.
func TestItemsOfVersions(t *testing.T) {
	made, err := filepath.Glob("testdata/items-*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	objects := func() *disk.Objects {
		o, err := disk.Open(t.TempDir(), time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { o.Close() })
		return o
	}
	cfg, current := inMemory(), "t"
	if err := lipsynctest.NewPast(t, dynamodb.New(cfg, current).Store, objects()).Live(t.Context()); err != nil {
		t.Fatal(err)
	}
	if written := scan(t, sdk.NewFromConfig(cfg), current); !slices.ContainsFunc(made, func(file string) bool { return read(t, file) == written }) {
		file := fmt.Sprintf("testdata/items-%d.jsonl", len(made)+1)
		if !*keep {
			t.Errorf("no items in testdata are as this version writes them: make %s with go test ./internal/store/dynamodb -run TestItemsOfVersions -keep", file)
		} else if err := os.WriteFile(file, []byte(written), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range made {
		t.Run(filepath.Base(file), func(t *testing.T) {
			cfg, o := inMemory(), objects()
			load(t, sdk.NewFromConfig(cfg), "t", file)
			for key, text := range lipsynctest.PastObjects() {
				if err := o.Put(t.Context(), key, strings.NewReader(text), int64(len(text))); err != nil {
					t.Fatal(err)
				}
			}
			lipsynctest.NewPast(t, dynamodb.New(cfg, "t").Store, o).GoOn(t)
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// scan returns all items of a table, one per line, sorted.
func scan(t *testing.T, client *sdk.Client, table string) string {
	t.Helper()
	out, err := client.Scan(t.Context(), &sdk.ScanInput{TableName: &table})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, item := range out.Items {
		all := make(map[string]value)
		for name, attribute := range item {
			all[name] = typed(attribute)
		}
		line, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line)+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// load puts the items of a file into a table.
func load(t *testing.T, client *sdk.Client, table, file string) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(read(t, file)))
	for lines.Scan() {
		var all map[string]value
		if err := json.Unmarshal(lines.Bytes(), &all); err != nil {
			t.Fatal(err)
		}
		item := make(map[string]types.AttributeValue)
		for name, v := range all {
			item[name] = v.attribute()
		}
		if _, err := client.PutItem(t.Context(), &sdk.PutItemInput{TableName: &table, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
}

package fields

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

type embedded struct {
	Speed  float64   `json:"speed"`
	Begins time.Time `json:"begins"`
}

// body has what bodies of the API have: a list of objects, an embedded object, and a type that reads itself.
type body struct {
	Inputs []struct {
		URL string `json:"url"`
	} `json:"inputs"`
	embedded
	Unnamed int
	Hidden  int `json:"-"`
}

// TestUnknown names the fields that the type doesn't take, each once, as far as the 60th character, and the first ten of them.
func TestUnknown(t *testing.T) {
	for text, want := range map[string][]string{
		`{"inputs":[{"URL":"x"}],"Speed":1,"begins":{"x":1}}`:    nil,
		`{"y":1,"inputs":[{"x":1},{"x":2,"url":1}],"Unnamed":1}`: {"Unnamed", "inputs.x", "y"},
		`{"-":1,"inputs":{"x":1},"speed":{"x":1}}`:               {"-"},
		`[{"x":1}]`:                             nil,
		`{"x":1`:                                nil,
		`{"` + strings.Repeat("ü", 61) + `":1}`: {strings.Repeat("ü", 60)},
		`{"k":1,"j":1,"i":1,"h":1,"g":1,"f":1,"e":1,"d":1,"c":1,"b":1,"a":1}`: strings.Split("abcdefghij", ""),
	} {
		if got := Unknown([]byte(text), reflect.TypeFor[body]()); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// FuzzUnknownFields looks for unknown fields in any text.
func FuzzUnknownFields(f *testing.F) {
	for _, text := range []string{`{"inputs":[{"x":1}],"y":{}}`, `[]`, `{"inputs":{"a":1}}`, `{"inputs":[null,1,[]],"":""}`, "{\"\xff\":1}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		names := Unknown(text, reflect.TypeFor[body]())
		if len(names) > most || !json.Valid(text) && names != nil {
			t.Errorf("got %q", names)
		}
	})
}

// TestAdd names each field once, as far as its 60th character, and the first ten of them.
func TestAdd(t *testing.T) {
	var names []string
	for _, name := range []string{"b", "b", strings.Repeat("ü", 61), strings.Repeat("ü", 60), "c", "d", "e", "f", "g", "h", "i", "j", "a"} {
		names = Add(names, name)
	}
	if want := slices.Concat([]string{"b", strings.Repeat("ü", 60)}, strings.Split("cdefghij", "")); !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

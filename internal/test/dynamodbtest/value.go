package dynamodbtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
)

// value is an attribute's value, of kind S, N, BOOL, NULL, B (base64) or L.
type value struct {
	kind string
	data any // string, bool or []value
}

type item map[string]value

func (v value) text() string {
	s, _ := v.data.(string)
	return s
}

func (v value) number() *big.Float {
	f, _, _ := big.ParseFloat(v.text(), 10, 200, big.ToNearestEven) // it was parsed as a number before
	return f
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *value) UnmarshalJSON(text []byte) error {
	var typed map[string]json.RawMessage
	if err := json.Unmarshal(text, &typed); err != nil || len(typed) != 1 {
		return fmt.Errorf("%s is not a value (%v)", text, err)
	}
	for kind, raw := range typed {
		v.kind = kind
		switch kind {
		case "S", "N", "B":
			var s string
			if err := json.Unmarshal(raw, &s); err != nil {
				return err
			}
			if _, _, err := big.ParseFloat(s, 10, 200, big.ToNearestEven); kind == "N" && err != nil {
				return err
			}
			v.data = s
		case "BOOL", "NULL":
			var b bool
			if err := json.Unmarshal(raw, &b); err != nil {
				return err
			}
			v.data = b
		case "L":
			var list []value
			if err := json.Unmarshal(raw, &list); err != nil {
				return err
			}
			v.data = list
		default:
			return fmt.Errorf("a value of type %s", kind)
		}
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (v value) MarshalJSON() ([]byte, error) {
	if list, ok := v.data.([]value); ok && list == nil {
		v.data = []value{}
	}
	return json.Marshal(map[string]any{v.kind: v.data})
}

func (v value) equal(other value) bool {
	if v.kind != other.kind {
		return false
	}
	if v.kind == "N" {
		return v.number().Cmp(other.number()) == 0
	}
	a, _ := json.Marshal(v)
	b, _ := json.Marshal(other)
	return bytes.Equal(a, b)
}

// size returns about how many bytes AWS counts.
func (v value) size() int {
	switch data := v.data.(type) {
	case string:
		switch v.kind {
		case "N":
			return len(data)/2 + 2
		case "B":
			return len(data) * 3 / 4
		}
		return len(data)
	case []value:
		n := 3
		for _, each := range data {
			n += 1 + each.size()
		}
		return n
	}
	return 1
}

func (i item) size() (n int) {
	for name, v := range i {
		n += len(name) + v.size()
	}
	return n
}

// units returns how many write units it takes to write the item.
func (i item) units() float64 { return float64((i.size() + 1023) / 1024) }

func (i item) clone() item {
	if i == nil {
		return item{}
	}
	return maps.Clone(i)
}

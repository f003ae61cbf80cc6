package dynamodbtest

import (
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// value is an attribute's value as JSON: {"S": "text"}. Its type is S, N, B, BOOL, NULL or L.
type value struct{ types.AttributeValue }

// item is an item as JSON.
type item map[string]value

var _ json.Unmarshaler = (*value)(nil)

func (v *value) UnmarshalJSON(text []byte) error {
	var typed map[string]json.RawMessage
	if err := json.Unmarshal(text, &typed); err != nil || len(typed) != 1 {
		return fmt.Errorf("%s is not a value (%v)", text, err)
	}
	for kind, raw := range typed {
		switch kind {
		case "S":
			s := new(types.AttributeValueMemberS)
			v.AttributeValue = s
			return json.Unmarshal(raw, &s.Value)
		case "N":
			n := new(types.AttributeValueMemberN)
			v.AttributeValue = n
			if err := json.Unmarshal(raw, &n.Value); err != nil {
				return err
			}
			_, _, err := big.ParseFloat(n.Value, 10, 200, big.ToNearestEven)
			return err
		case "B":
			b := new(types.AttributeValueMemberB)
			v.AttributeValue = b
			return json.Unmarshal(raw, &b.Value)
		case "BOOL":
			b := new(types.AttributeValueMemberBOOL)
			v.AttributeValue = b
			return json.Unmarshal(raw, &b.Value)
		case "NULL":
			v.AttributeValue = &types.AttributeValueMemberNULL{Value: true}
			return nil
		case "L":
			var list []value
			err := json.Unmarshal(raw, &list)
			l := &types.AttributeValueMemberL{}
			for _, each := range list {
				l.Value = append(l.Value, each.AttributeValue)
			}
			v.AttributeValue = l
			return err
		}
	}
	return fmt.Errorf("a value of another type: %s", text)
}

var _ json.Marshaler = (*value)(nil)

func (v value) MarshalJSON() ([]byte, error) {
	switch a := v.AttributeValue.(type) {
	case *types.AttributeValueMemberS:
		return json.Marshal(map[string]string{"S": a.Value})
	case *types.AttributeValueMemberN:
		return json.Marshal(map[string]string{"N": a.Value})
	case *types.AttributeValueMemberB:
		return json.Marshal(map[string][]byte{"B": a.Value})
	case *types.AttributeValueMemberBOOL:
		return json.Marshal(map[string]bool{"BOOL": a.Value})
	case *types.AttributeValueMemberNULL:
		return json.Marshal(map[string]bool{"NULL": a.Value})
	case *types.AttributeValueMemberL:
		list := make([]value, len(a.Value))
		for n, each := range a.Value {
			list[n] = value{each}
		}
		return json.Marshal(map[string][]value{"L": list})
	}
	return nil, fmt.Errorf("a value of type %T", v.AttributeValue)
}

// typed returns the item as the SDK has it. An item that is absent stays nil.
func (i item) typed() map[string]types.AttributeValue {
	if i == nil {
		return nil
	}
	all := make(map[string]types.AttributeValue, len(i))
	for name, v := range i {
		all[name] = v.AttributeValue
	}
	return all
}

// wired is the inverse of typed.
func wired(i map[string]types.AttributeValue) item {
	if i == nil {
		return nil
	}
	all := make(item, len(i))
	for name, v := range i {
		all[name] = value{v}
	}
	return all
}

func wiredAll(items []map[string]types.AttributeValue) []item {
	all := make([]item, len(items))
	for n, i := range items {
		all[n] = wired(i)
	}
	return all
}

// Attribute returns a value of the type that DynamoDB calls kind.
func Attribute(kind, value string) types.AttributeValue {
	switch kind {
	case "S":
		return &types.AttributeValueMemberS{Value: value}
	case "N":
		return &types.AttributeValueMemberN{Value: value}
	case "B":
		return &types.AttributeValueMemberB{Value: []byte(value)}
	case "BOOL":
		return &types.AttributeValueMemberBOOL{Value: value == "true"}
	case "L":
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberS{Value: value}}}
	}
	return &types.AttributeValueMemberNULL{Value: true}
}

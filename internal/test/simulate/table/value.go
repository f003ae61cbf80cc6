package table

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type item = map[string]types.AttributeValue

// text returns a string, or "" for any other value.
func text(v types.AttributeValue) string {
	s, ok := v.(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	return s.Value
}

// whole returns a number. The store writes only whole ones.
func whole(v types.AttributeValue) int64 {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	i, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		panic(err)
	}
	return i
}

func elements(v types.AttributeValue) []types.AttributeValue {
	l, ok := v.(*types.AttributeValueMemberL)
	if !ok {
		return nil
	}
	return l.Value
}

func contains(whole, part types.AttributeValue) bool {
	s, ok := whole.(*types.AttributeValueMemberS)
	p, both := part.(*types.AttributeValueMemberS)
	if ok && both {
		return strings.Contains(s.Value, p.Value)
	}
	return slices.ContainsFunc(elements(whole), func(e types.AttributeValue) bool { return equal(e, part) })
}

func equal(a, b types.AttributeValue) bool {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		b, ok := b.(*types.AttributeValueMemberS)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberN:
		b, ok := b.(*types.AttributeValueMemberN)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberB:
		b, ok := b.(*types.AttributeValueMemberB)
		return ok && bytes.Equal(a.Value, b.Value)
	case *types.AttributeValueMemberBOOL:
		b, ok := b.(*types.AttributeValueMemberBOOL)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberNULL:
		_, ok := b.(*types.AttributeValueMemberNULL)
		return ok
	case *types.AttributeValueMemberL:
		b, ok := b.(*types.AttributeValueMemberL)
		return ok && slices.EqualFunc(a.Value, b.Value, equal)
	}
	return false
}

func isNumber(v types.AttributeValue) bool {
	_, ok := v.(*types.AttributeValueMemberN)
	return ok
}

func isText(v types.AttributeValue) bool {
	_, ok := v.(*types.AttributeValueMemberS)
	return ok
}

// sameKind reports whether two values are both numbers or both strings.
func sameKind(a, b types.AttributeValue) bool {
	return isNumber(a) && isNumber(b) || isText(a) && isText(b)
}

// compare compares two numbers or two strings.
func compare(a, b types.AttributeValue) int {
	if _, ok := a.(*types.AttributeValueMemberN); ok {
		return cmp.Compare(whole(a), whole(b))
	}
	return strings.Compare(text(a), text(b))
}

// size returns about how many bytes AWS counts.
func size(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return len(v.Value)/2 + 2
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberL:
		n := 3
		for _, e := range v.Value {
			n += 1 + size(e)
		}
		return n
	}
	return 1
}

func sizeOf(i item) (n int) {
	for name, v := range i {
		n += len(name) + size(v)
	}
	return n
}

package table

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// operand returns an attribute of the item or a value of the expression; nil if there is none.
type operand func(i, values item) types.AttributeValue

// condition reports whether an item meets the condition, with the values of the expression.
type condition func(i, values item) bool

// expressions caches the parsed form of each text; the store uses only some dozens. The name #x
// stands for the attribute x, as in the store.
type expressions struct {
	conditions, updates, keys, projections sync.Map
}

// parsed is what a text means, with the names and values that it uses.
type parsed[T any] struct {
	meaning T
	words
}

// words are names (#x) and values (:x) of expressions.
type words map[string]bool

func (e *expressions) condition(text string) (parsed[condition], error) {
	if text == "" {
		return parsed[condition]{meaning: func(item, item) bool { return true }}, nil
	}
	return read(&e.conditions, text, func(p *parser) condition { return p.or() })
}

// read returns the result of parse on the whole text.
func read[T any](known *sync.Map, text string, parse func(*parser) T) (made parsed[T], err error) {
	if made, ok := known.Load(text); ok {
		return made.(parsed[T]), nil
	}
	defer func() {
		if refused, ok := recover().(unreadable); ok {
			err = invalid("%s", refused)
		}
	}()
	p := &parser{tokens: token.FindAllString(text, -1), text: text, words: words{}}
	made = parsed[T]{parse(p), p.words}
	p.end()
	known.Store(text, made)
	return made, nil
}

// check refuses names and values that no expression uses, those that are missing, and empty maps of them.
func check(names map[string]string, values item, used ...words) error {
	if names != nil && len(names) == 0 || values != nil && len(values) == 0 {
		return invalid("ExpressionAttributeNames and ExpressionAttributeValues must not be empty")
	}
	for name, attribute := range names {
		if name != "#"+attribute || !slices.ContainsFunc(used, func(w words) bool { return w[name] }) {
			return invalid("%s, which stands for %s, is unused in expressions", name, attribute)
		}
	}
	for name := range values {
		if !slices.ContainsFunc(used, func(w words) bool { return w[name] }) {
			return invalid("%s is unused in expressions", name)
		}
	}
	for _, w := range used {
		for name := range w {
			if names[name] == "" && values[name] == nil {
				return invalid("%s is not defined", name)
			}
		}
	}
	return nil
}

var token = regexp.MustCompile(`[#:]?[A-Za-z_0-9]+|<>|<=|>=|[=<>(),]`)

// parser parses one expression. It panics with unreadable if it can't.
type parser struct {
	tokens []string
	text   string
	words  words
}

type unreadable string

func (p *parser) fail() {
	panic(unreadable(fmt.Sprintf("unparsed rest %q of the expression %q", p.tokens, p.text)))
}

func (p *parser) end() {
	if len(p.tokens) > 0 {
		p.fail()
	}
}

func (p *parser) next() string {
	if len(p.tokens) == 0 {
		p.fail()
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

func (p *parser) accept(t string) bool {
	if len(p.tokens) == 0 || p.tokens[0] != t {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *parser) expect(t string) {
	if !p.accept(t) {
		p.fail()
	}
}

// attribute parses the name of an attribute, x or #x.
func (p *parser) attribute() string {
	t := p.next()
	switch t[0] {
	case '#':
		p.words[t] = true
		return t[1:]
	case ':':
		p.fail()
	}
	return t
}

// value parses the name of a value.
func (p *parser) value() string {
	t := p.next()
	if t[0] != ':' {
		p.fail()
	}
	p.words[t] = true
	return t
}

// attributes parses a list of names.
func (p *parser) attributes() []string {
	all := []string{p.attribute()}
	for p.accept(",") {
		all = append(all, p.attribute())
	}
	return all
}

func (p *parser) or() condition {
	left := p.and()
	for p.accept("OR") {
		a, b := left, p.and()
		left = func(i, v item) bool { return a(i, v) || b(i, v) }
	}
	return left
}

func (p *parser) and() condition {
	left := p.not()
	for p.accept("AND") {
		a, b := left, p.not()
		left = func(i, v item) bool { return a(i, v) && b(i, v) }
	}
	return left
}

func (p *parser) not() condition {
	switch {
	case p.accept("NOT"):
		c := p.not()
		return func(i, v item) bool { return !c(i, v) }
	case p.accept("("):
		c := p.or()
		p.expect(")")
		return c
	case p.accept("attribute_exists"):
		has := p.one()
		return func(i, v item) bool { return has(i, v) != nil }
	case p.accept("attribute_not_exists"):
		has := p.one()
		return func(i, v item) bool { return has(i, v) == nil }
	case p.accept("contains"):
		whole, part := p.two() // whole is a list or a string
		return func(i, v item) bool { return contains(whole(i, v), part(i, v)) }
	}
	return p.comparison()
}

func (p *parser) comparison() condition {
	left, operator := p.operand(), p.next()
	if operator == "BETWEEN" {
		low := p.operand()
		p.expect("AND")
		high := p.operand()
		return func(i, v item) bool {
			is, from, to := left(i, v), low(i, v), high(i, v)
			return sameKind(is, from) && sameKind(is, to) && compare(from, is) <= 0 && compare(is, to) <= 0
		}
	}
	right := p.operand()
	return func(i, v item) bool {
		a, b := left(i, v), right(i, v)
		if a == nil || b == nil {
			return false
		}
		switch operator {
		case "=":
			return equal(a, b)
		case "<>":
			return !equal(a, b)
		}
		if !sameKind(a, b) {
			return false
		}
		n := compare(a, b)
		return operator == "<" && n < 0 || operator == "<=" && n <= 0 || operator == ">" && n > 0 || operator == ">=" && n >= 0
	}
}

func (p *parser) one() operand {
	p.expect("(")
	o := p.operand()
	p.expect(")")
	return o
}

func (p *parser) two() (first, second operand) {
	p.expect("(")
	first = p.operand()
	p.expect(",")
	second = p.operand()
	p.expect(")")
	return first, second
}

func (p *parser) operand() operand {
	switch {
	case p.accept("size"):
		list := p.one()
		return func(i, v item) types.AttributeValue {
			of, ok := list(i, v).(*types.AttributeValueMemberL)
			if !ok {
				return nil
			}
			return &types.AttributeValueMemberN{Value: strconv.Itoa(len(of.Value))}
		}
	case p.accept("if_not_exists"):
		first, second := p.two()
		return func(i, v item) types.AttributeValue {
			if is := first(i, v); is != nil {
				return is
			}
			return second(i, v)
		}
	case p.accept("list_append"):
		first, second := p.two()
		return func(i, v item) types.AttributeValue {
			a, isList := first(i, v).(*types.AttributeValueMemberL)
			b, both := second(i, v).(*types.AttributeValueMemberL)
			if !isList || !both {
				return nil
			}
			return &types.AttributeValueMemberL{Value: slices.Concat(a.Value, b.Value)}
		}
	case len(p.tokens) > 0 && strings.HasPrefix(p.tokens[0], ":"):
		name := p.value()
		return func(_, v item) types.AttributeValue { return v[name] }
	}
	name := p.attribute()
	return func(i, _ item) types.AttributeValue { return i[name] }
}

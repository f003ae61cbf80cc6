package dynamodbtest

import (
	"regexp"
	"slices"
	"strings"
)

// expressions parses expressions, and records which of the names and values they use.
type expressions struct {
	names  map[string]string
	values item
	used   map[string]bool

	tokens []string
	err    error
}

var token = regexp.MustCompile(`[#:]?[A-Za-z_0-9]+|<>|<=|>=|[=<>(),]`)

func (e *expressions) begin(text string) {
	e.tokens = token.FindAllString(text, -1)
	if e.used == nil {
		e.used = make(map[string]bool)
	}
}

func (e *expressions) peek() string {
	if len(e.tokens) == 0 {
		return ""
	}
	return e.tokens[0]
}

func (e *expressions) next() string {
	t := e.peek()
	if t != "" {
		e.tokens = e.tokens[1:]
	}
	return t
}

func (e *expressions) accept(t string) bool {
	if strings.EqualFold(e.peek(), t) {
		e.next()
		return true
	}
	return false
}

func (e *expressions) expect(t string) {
	if !e.accept(t) && e.err == nil {
		e.err = invalid("got %q, want %q", e.peek(), t)
	}
}

// unused refuses names and values that no expression uses, and empty maps of them.
func (e *expressions) unused() error {
	if e.names != nil && len(e.names) == 0 || e.values != nil && len(e.values) == 0 {
		return invalid("ExpressionAttributeNames and ExpressionAttributeValues must not be empty")
	}
	for name := range e.names {
		if !e.used[name] {
			return invalid("%s is unused in expressions", name)
		}
	}
	for name := range e.values {
		if !e.used[name] {
			return invalid("%s is unused in expressions", name)
		}
	}
	return nil
}

// operand returns a value of an item, if it has one.
type operand func(item) (v value, ok bool)

// attribute parses the name of an attribute.
func (e *expressions) attribute() string {
	t := e.next()
	if e.used[t] = true; strings.HasPrefix(t, "#") {
		name, ok := e.names[t]
		if !ok && e.err == nil {
			e.err = invalid("the name %s is not defined", t)
		}
		return name
	}
	if (t == "" || strings.HasPrefix(t, ":")) && e.err == nil {
		e.err = invalid("%q is not an attribute", t)
	}
	return t
}

// projection parses which attributes of an item are wanted; "" means all.
func (e *expressions) projection(text string) (func(item) item, error) {
	if text == "" {
		return func(i item) item { return i }, nil
	}
	e.begin(text)
	wanted := []string{e.attribute()}
	for e.accept(",") {
		wanted = append(wanted, e.attribute())
	}
	return func(i item) item {
		part := item{}
		for _, name := range wanted {
			if v, ok := i[name]; ok {
				part[name] = v
			}
		}
		return part
	}, e.err
}

// two parses the two operands of a function, in parentheses.
func (e *expressions) two() (first, second operand) {
	e.expect("(")
	first = e.operand()
	e.expect(",")
	second = e.operand()
	e.expect(")")
	return first, second
}

func (e *expressions) operand() operand {
	t := e.peek()
	switch {
	case strings.HasPrefix(t, ":"):
		v, ok := e.values[e.next()]
		if e.used[t] = true; !ok && e.err == nil {
			e.err = invalid("the value %s is not defined", t)
		}
		return func(item) (value, bool) { return v, true }
	case e.accept("size"):
		e.expect("(")
		of := e.operand()
		e.expect(")")
		return func(i item) (value, bool) {
			v, ok := of(i)
			list, isList := v.data.([]value)
			return value{"N", itoa(len(list))}, ok && isList
		}
	case e.accept("if_not_exists"):
		first, second := e.two()
		return func(i item) (value, bool) {
			if v, ok := first(i); ok {
				return v, true
			}
			return second(i)
		}
	case e.accept("list_append"):
		first, second := e.two()
		return func(i item) (value, bool) {
			a, okA := first(i)
			b, okB := second(i)
			x, isX := a.data.([]value)
			y, isY := b.data.([]value)
			return value{"L", slices.Concat(x, y)}, okA && okB && isX && isY
		}
	}
	name := e.attribute()
	return func(i item) (value, bool) { v, ok := i[name]; return v, ok }
}

// condition parses a condition; "" is always true.
func (e *expressions) condition(text string) (func(item) (bool, error), error) {
	if text == "" {
		return func(item) (bool, error) { return true, nil }, nil
	}
	e.begin(text)
	c := e.or()
	if len(e.tokens) > 0 && e.err == nil {
		e.err = invalid("unparsed rest %q of %q", e.tokens, text)
	}
	return func(i item) (bool, error) { return c(i), nil }, e.err
}

func (e *expressions) or() func(item) bool {
	left := e.and()
	for e.accept("OR") {
		a, b := left, e.and()
		left = func(i item) bool { return a(i) || b(i) }
	}
	return left
}

func (e *expressions) and() func(item) bool {
	left := e.not()
	for e.accept("AND") {
		a, b := left, e.not()
		left = func(i item) bool { return a(i) && b(i) }
	}
	return left
}

func (e *expressions) not() func(item) bool {
	if e.accept("NOT") {
		c := e.not()
		return func(i item) bool { return !c(i) }
	}
	if e.accept("(") {
		c := e.or()
		e.expect(")")
		return c
	}
	for _, f := range []string{"attribute_exists", "attribute_not_exists"} {
		if e.accept(f) {
			e.expect("(")
			name := e.attribute()
			e.expect(")")
			return func(i item) bool { _, ok := i[name]; return ok == (f == "attribute_exists") }
		}
	}
	if e.accept("contains") {
		e.expect("(")
		whole := e.operand() // a list or a string
		e.expect(",")
		part := e.operand()
		e.expect(")")
		return func(i item) bool {
			v, _ := whole(i)
			w, ok := part(i)
			all, _ := v.data.([]value)
			return ok && (v.kind == "S" && w.kind == "S" && strings.Contains(v.text(), w.text()) || slices.ContainsFunc(all, w.equal))
		}
	}
	return e.comparison()
}

func (e *expressions) comparison() func(item) bool {
	left := e.operand()
	if e.accept("BETWEEN") {
		low := e.operand()
		e.expect("AND")
		high := e.operand()
		if a, okA := low(nil); okA {
			if b, okB := high(nil); okB && compare(a, b) > 0 && e.err == nil {
				e.err = invalid("the lower bound of BETWEEN is above the upper one")
			}
		}
		return func(i item) bool {
			v, ok := left(i)
			a, _ := low(i)
			b, _ := high(i)
			return ok && v.kind == a.kind && v.kind == b.kind && compare(a, v) <= 0 && compare(v, b) <= 0
		}
	}
	operator := e.next()
	right := e.operand()
	return func(i item) bool {
		a, okA := left(i)
		b, okB := right(i)
		if !okA || !okB {
			return false
		}
		switch operator {
		case "=":
			return a.equal(b)
		case "<>":
			return !a.equal(b)
		}
		if a.kind != b.kind {
			return false
		}
		n := compare(a, b)
		return operator == "<" && n < 0 || operator == "<=" && n <= 0 || operator == ">" && n > 0 || operator == ">=" && n >= 0
	}
}

func compare(a, b value) int {
	if a.kind == "N" {
		return a.number().Cmp(b.number())
	}
	return strings.Compare(a.text(), b.text())
}

// Package fields finds and names fields that the API doesn't know.
package fields

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// most is the largest number of unknown fields that are named.
const most = 10

// Add appends the name of an unknown field, cut to 60 characters, unless names has it already or has ten.
func Add(names []string, name string) []string {
	if name = fmt.Sprintf("%.60s", name); len(names) == most || slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// Unknown returns the names of the fields of a JSON value that a Go value of the type doesn't take, at most ten, in their
// order. A field of an object in a list has the name of the list before it. Types that read themselves refuse what they don't know.
func Unknown(text []byte, of reflect.Type) (names []string) {
	var found []string
	switch of.Kind() {
	case reflect.Slice:
		var all []json.RawMessage
		if readsItself(of) || json.Unmarshal(text, &all) != nil {
			return nil
		}
		for _, one := range all {
			found = append(found, Unknown(one, of.Elem())...)
		}
	case reflect.Struct:
		var fields map[string]json.RawMessage
		if readsItself(of) || json.Unmarshal(text, &fields) != nil {
			return nil
		}
		known := fieldsOf(of)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			i := slices.IndexFunc(known, func(f reflect.StructField) bool { return strings.EqualFold(nameOf(f), name) })
			if i < 0 {
				found = append(found, name)
				continue
			}
			for _, inner := range Unknown(fields[name], known[i].Type) {
				found = append(found, nameOf(known[i])+"."+inner)
			}
		}
	}
	slices.Sort(found)
	for _, name := range found {
		names = Add(names, name)
	}
	return names
}

// fieldsOf returns the fields of a struct that JSON has, those of embedded structs too.
func fieldsOf(of reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(of), func(f reflect.StructField) bool { return f.Anonymous || nameOf(f) == "" || nameOf(f) == "-" })
}

// nameOf returns the name of a field in JSON, "" if it has none.
func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// readsItself reports whether values of a type read JSON or text by a method.
func readsItself(of reflect.Type) bool {
	of = reflect.PointerTo(of)
	return of.Implements(reflect.TypeFor[json.Unmarshaler]()) || of.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

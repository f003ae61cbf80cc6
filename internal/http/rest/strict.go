package rest

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// mostIgnored is the largest number of unknown fields that are named.
const mostIgnored = 10

// short returns the begin of a field's name.
func short(name string) string { return fmt.Sprintf("%.60s", name) }

// refuseIgnored returns an error that names unknown fields, if the client prefers that to their being ignored.
func refuseIgnored(h http.Header, fields []string) error {
	if len(fields) == 0 || !strict(h) {
		return nil
	}
	quoted := make([]string, len(fields))
	for i, name := range fields {
		quoted[i] = strconv.Quote(name)
	}
	return invalid("request body has unknown fields: " + strings.Join(quoted, ", "))
}

// strict reports whether the client prefers strict handling, by RFC 7240. Of several preferences the first counts.
func strict(h http.Header) bool {
	for _, preference := range strings.Split(strings.Join(h.Values("Prefer"), ","), ",") {
		preference, _, _ = strings.Cut(preference, ";") // its parameters
		name, value, _ := strings.Cut(preference, "=")
		if strings.EqualFold(strings.TrimSpace(name), "handling") {
			return strings.EqualFold(strings.Trim(strings.TrimSpace(value), `"`), "strict")
		}
	}
	return false
}

// unknownFields returns the names of the fields of a JSON value that a Go value of the type doesn't take, at most mostIgnored, in their
// order. A field of an object in a list has the name of the list before it. Types that read themselves refuse what they don't know.
func unknownFields(text []byte, of reflect.Type) (names []string) {
	switch of.Kind() {
	case reflect.Slice:
		var all []json.RawMessage
		if readsItself(of) || json.Unmarshal(text, &all) != nil {
			return nil
		}
		for _, one := range all {
			names = append(names, unknownFields(one, of.Elem())...)
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
				names = append(names, short(name))
				continue
			}
			for _, inner := range unknownFields(fields[name], known[i].Type) {
				names = append(names, short(nameOf(known[i])+"."+inner))
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), mostIgnored)]
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

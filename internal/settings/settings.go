// Package settings is the one table of what an operator may set: on one machine by flags and
// the environment, on AWS by CDK's context. Flags, help, the environment of functions and
// runners, and docs/settings.md come from it. The table also has the variables by which the
// stack tells its functions and runners where its parts are.
package settings

import (
	"slices"
	"strings"
)

// Place is where a setting can be made. Places are bits of a set.
type Place uint8

// Places.
const (
	Machine   Place = 1 << iota // by a flag of the command lipsync, or a variable of its environment
	Stack                       // by a key of CDK's context
	Functions                   // by a variable of functions of Lambda, which the stack sets
	Runner                      // by a variable of the runner, which the stack sets
)

// Row is a line of the table, without the type of its values.
type Row struct {
	// Name is the setting's name in small letters with dashes, from which its flag, its
	// variable and its key come.
	Name  string
	Where Place
	// Key is the key in CDK's context without its prefix, if it does not come from the name.
	Key string
	// Default is the value if nothing is set, as text. Functions and runners have no defaults:
	// the stack passes each value to them.
	Default string
	// Without says what holds if nothing is set, for people, where Default doesn't say it.
	Without string
	// Optional is true if a function or runner can run without the setting.
	Optional bool
	// Example stands for the value in help, such as N or TIME.
	Example string
	// Choices are all values that there are, if they are few.
	Choices []string
	// Help says what the setting is, in one sentence without a full stop.
	Help string
	// More has further sentences, for the docs only.
	More string
}

// Setting is a line of the table, for values of the type T.
type Setting[T any] struct {
	Row
	// Kind is the kind of its values.
	Kind *Kind[T]
	// InStack is the kind of value in CDK's context, if it is not Kind.
	InStack *Kind[T]
	// ContextDefault returns the default in CDK's context, where it depends on other settings.
	ContextDefault func(*Values) string
}

// Entry is a Setting of any type.
type Entry interface {
	Line() *Row
	// Check returns an error if text is no value for the command lipsync.
	Check(text string) error
	// ContextValue returns the value that a stack has, as text for its context.
	ContextValue(*Values) string
	// EnvValue returns the value that a stack has, as text for the environment of its programs.
	EnvValue(*Values) string
	// Describe says what a value in CDK's context must be.
	Describe() string
	// StackDefault returns the default as text for CDK's context.
	StackDefault() string
}

// Line implements Entry.
func (r *Row) Line() *Row { return r }

// Flag returns the setting's flag, such as --max-side.
func (r *Row) Flag() string { return "--" + r.Name }

// Env returns the setting's variable in the environment, such as LIPSYNC_MAX_SIDE.
func (r *Row) Env() string {
	return "LIPSYNC_" + strings.ToUpper(strings.ReplaceAll(r.Name, "-", "_"))
}

// Prefix marks those keys of CDK's context that are settings of this service.
const Prefix = "lipsync:"

// Context returns the setting's key in CDK's context, such as lipsync:maxSide.
func (r *Row) Context() string { return Prefix + r.key() }

func (r *Row) key() string {
	if r.Key != "" {
		return r.Key
	}
	first, others, _ := strings.Cut(r.Name, "-")
	for word := range strings.SplitSeq(others, "-") {
		if word != "" {
			first += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return first
}

//go:generate go run ./page ../../docs/settings.md

var table []Entry

// add makes a setting a line of the table.
func add[T any](s Setting[T]) *Setting[T] {
	table = append(table, &s)
	return &s
}

// At returns the lines of the table that can be set in any of the places, in their order.
func At(places Place) []Entry {
	return slices.DeleteFunc(slices.Clone(table), func(e Entry) bool { return e.Line().Where&places == 0 })
}

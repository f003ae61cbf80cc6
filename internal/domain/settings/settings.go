// Package settings has the table of all settings. An operator makes them on one machine by flags
// and the environment, and on AWS by CDK's context. The flags, their help, the environment of
// functions and runners, and docs/settings.md come from the table. It also has the variables
// with which the stack names its parts to its functions and runners.
package settings

import (
	"slices"
	"strings"
)

// Place is a place to make a setting. A set of places is the sum of their bits.
type Place uint8

// Places.
const (
	Machine   Place = 1 << iota // by a flag of the command lipsync, or a variable of its environment
	Stack                       // by a key of CDK's context
	Functions                   // by a variable of functions of Lambda, which the stack sets
	Runner                      // by a variable of the runner, which the stack sets
	Caller                      // by a flag of a command that calls a service, or a variable of its environment
	Passing                     // by a key of CDK's context that only deploy and tests give
)

// Row is a line of the table, without the type of its values.
type Row struct {
	// Name is the setting's name in small letters with dashes. Its flag, its variable and its
	// key come from the name.
	Name  string
	Where Place
	// Key is the key in CDK's context without its prefix; "" if it comes from the name.
	Key string
	// Default is the value if nothing is set, as text. Functions and runners have no defaults:
	// the stack passes each value to them.
	Default string
	// Without describes the default for people, if Default doesn't say it.
	Without string
	// Optional is true if a function or runner can run without the setting.
	Optional bool
	// Example stands for the value in help, such as N or TIME.
	Example string
	// Choices are all valid values, if they are few.
	Choices []string
	// Help describes the setting in one sentence without a full stop, for pages and the help of programs; "" if none has it.
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
	// ContextDefault returns the default in CDK's context, if it is another one or depends on other settings.
	ContextDefault func(*Values) string
}

// Entry is a Setting of any type.
type Entry interface {
	Line() *Row
	// Check returns an error if the command lipsync can't take text as a value.
	Check(text string) error
	// ContextValue returns a stack's value as text for CDK's context.
	ContextValue(*Values) string
	// EnvValue returns a stack's value as text for the environment of its programs.
	EnvValue(*Values) string
	// StackDefault returns the default as text for CDK's context.
	StackDefault() string
}

func (r *Row) Line() *Row { return r }

// Flag returns the setting's flag, such as --max-side.
func (r *Row) Flag() string { return "--" + r.Name }

// EnvPrefix is the beginning of the variables of all settings in the environment.
const EnvPrefix = "LIPSYNC_"

// Env returns the setting's variable in the environment, such as LIPSYNC_MAX_SIDE.
func (r *Row) Env() string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(r.Name, "-", "_"))
}

// prefix is the beginning of all keys in CDK's context that are settings of this service.
const prefix = "lipsync:"

// Context returns the setting's key in CDK's context, such as lipsync:maxSide.
func (r *Row) Context() string { return prefix + r.OnAWS() }

// OnAWS returns the setting's name on AWS, such as maxSide.
func (r *Row) OnAWS() string {
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

//go:generate go run ./page ../../../docs/settings.md ../../../packaging/default

var table []Entry

// add makes a setting a line of the table.
func add[T any](s Setting[T]) *Setting[T] {
	table = append(table, &s)
	return &s
}

// At returns the settings that can be made in any of the places, in the order of the table.
func At(places Place) []Entry {
	return slices.DeleteFunc(slices.Clone(table), func(e Entry) bool { return e.Line().Where&places == 0 })
}

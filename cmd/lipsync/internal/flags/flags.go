// Package flags has the flags of the command line that come from the tables of settings and options.
package flags

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/settings"
)

// setting returns the setting of a flag, nil if the flag is no setting.
func setting(f *kong.Flag) settings.Entry {
	for _, e := range settings.At(settings.Machine | settings.Caller) {
		if e.Line().Name == f.Name {
			return e
		}
	}
	return nil
}

// Describe gives each flag of a setting the variable, the default and the help of the table of
// settings. Some defaults depend on the machine: the argument has them, by the name of the flag.
func Describe(defaults map[string]string) kong.Option {
	return kong.PostBuild(func(k *kong.Kong) error {
		return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
			f, is := node.(*kong.Flag)
			if !is {
				return next(nil)
			}
			if e := setting(f); e != nil {
				describe(f, e.Line(), defaults[f.Name])
				f.Mapper = checkedMapper{f.Mapper, e}
			} else if o := option(f.Name); o != nil && f.PlaceHolder == o.Flag {
				f.Mapper = optionMapper{f.Mapper, o}
			} else if f.Help == "" {
				return fmt.Errorf("%s has no help, and is no setting", f)
			}
			return next(nil)
		})
	})
}

func describe(f *kong.Flag, line *settings.Row, computed string) {
	f.PlaceHolder, f.Enum = line.Example, strings.Join(line.Choices, ",")
	f.Help = line.Help
	if !f.IsBool() {
		f.Default, f.HasDefault = line.Default, line.Default != ""
		without := line.Without
		if computed != "" {
			f.Default, f.HasDefault, without = computed, true, ""
		}
		if without == "" {
			without = f.Default
		}
		f.Help += " (default: " + without + ")"
	}
	f.Help += " ($" + line.Env() + ")."
	f.OrigHelp = f.Help
}

// BadValue is an error for a value that a setting may not have. The table of settings words it.
type BadValue struct{ error }

// checkedMapper refuses values that a setting may not have, before kong decodes them.
type checkedMapper struct {
	kong.Mapper
	of settings.Entry
}

var _ kong.Mapper = (*checkedMapper)(nil)

func (m checkedMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	t := ctx.Scan.Peek()
	given := t.IsValue()
	if ctx.Value.IsBool() {
		given = t.Type == kong.FlagValueToken // any other token belongs to the next argument
	}
	if given {
		if err := m.of.Check(t.String()); err != nil {
			return BadValue{err}
		}
	}
	return m.Mapper.Decode(ctx, target)
}

// optionMapper words the errors of an option's values as the command line has them.
type optionMapper struct {
	kong.Mapper
	of *order.Option
}

func (m optionMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	given := ctx.Scan.Peek().String()
	err := m.Mapper.Decode(ctx, target)
	switch {
	case failure.CodeOf(err) != failure.Invalid:
		return err
	case m.of.Shape == order.Object:
		return BadValue{fmt.Errorf("--%s must be %s, not %q: see --help", flagOf(m.of), m.of.Flag, given)}
	default:
		return BadValue{errors.New(Words(failure.MessageOf(err)))}
	}
}

// flagOf returns the name of an option's flag.
func flagOf(o *order.Option) string { return strings.ReplaceAll(o.Name, "_", "-") }

// option returns the option of a flag, nil if there is none.
func option(flag string) *order.Option {
	for _, o := range flagged() {
		if flagOf(o) == flag {
			return o
		}
	}
	return nil
}

// ValuesOf returns the values that a flag may have, nil if they are not a few.
func ValuesOf(f *kong.Flag) []string {
	if e := setting(f); e != nil {
		return e.Line().Choices
	}
	if o := option(f.Name); o != nil && f.PlaceHolder == o.Flag && o.Shape == order.Names {
		return o.Names()
	}
	return nil
}

// Words returns a sentence of the API in the words of the command line: options have the names of their flags.
func Words(sentence string) string {
	for _, o := range flagged() {
		if rest, begins := strings.CutPrefix(sentence, o.Name+" must "); begins {
			return "--" + flagOf(o) + " must " + rest
		}
		if strings.Contains(o.Name, "_") { // others are words of sentences too
			sentence = strings.ReplaceAll(sentence, o.Name, "--"+flagOf(o))
		}
	}
	return sentence
}

// Unknown returns, for each variable of an environment that looks like a setting and is none, a sentence that names it and perhaps the one
// that was meant.
func Unknown(environment []string) (all []string) {
	var known []string
	for _, e := range settings.At(settings.Machine | settings.Caller | settings.Runner | settings.Functions) {
		known = append(known, e.Line().Env())
	}
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, settings.EnvPrefix) || slices.Contains(known, name) {
			continue
		}
		sentence := name + " is no setting"
		if near := nearest(name, known); near != "" {
			sentence += ": did you mean " + near + "?"
		}
		all = append(all, sentence)
	}
	slices.Sort(all)
	return all
}

// nearest returns the word with the fewest letters to change, a third of those after the prefix and 3 at most, "" if there is none.
func nearest(name string, words []string) (near string) {
	least := min(4, 1+len(strings.TrimPrefix(name, settings.EnvPrefix))/3)
	for _, word := range words {
		if n := distance(name, word); n < least {
			least, near = n, word
		}
	}
	return near
}

// distance returns the number of letters to add, drop or replace to make one text of another.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0] // of the row above, one to the left
		row[0] = i + 1
		for j := range len(b) {
			same := before
			if a[i] != b[j] {
				same++
			}
			before = row[j+1]
			row[j+1] = min(same, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// Given returns a line for each setting of the selected command that a flag or a variable gives another value than its default. A secret's
// value is left out.
func Given(k *kong.Context) (lines []string) {
	for _, p := range k.Path {
		if p.Flag == nil {
			continue
		}
		e := setting(p.Flag)
		if e == nil {
			continue
		}
		value := fmt.Sprint(k.FlagValue(p.Flag))
		if value == e.Line().Default {
			continue
		}
		from := e.Line().Flag()
		if p.Resolved {
			from = e.Line().Env()
		}
		lines = append(lines, from+" "+value)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// Environment returns a kong.ResolverFunc that finds the text of a setting's variable. (kong can read variables too, but then it adds its own
// words to the table's sentence.)
func Environment(lookup func(name string) (text string, set bool)) kong.ResolverFunc {
	return func(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
		e := setting(f)
		if e == nil {
			return nil, nil
		}
		text, set := lookup(e.Line().Env())
		if !set {
			return nil, nil
		}
		if err := e.Check(text); err != nil {
			return nil, BadValue{fmt.Errorf("%w (%s is %q)", err, e.Line().Env(), text)}
		}
		return text, nil
	}
}

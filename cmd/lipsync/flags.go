package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

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

// describeFlags gives each flag of a setting the variable, the default and the help of the table of
// settings. Some defaults depend on the machine: the argument has them, by the name of the flag.
func describeFlags(defaults map[string]string) kong.Option {
	return kong.PostBuild(func(k *kong.Kong) error {
		return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
			f, is := node.(*kong.Flag)
			if !is {
				return next(nil)
			}
			if e := setting(f); e != nil {
				describe(f, e.Line(), defaults[f.Name])
				f.Mapper = checkedMapper{f.Mapper, e}
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

// badValue is an error for a value that a setting may not have. The table of settings words it.
type badValue struct{ error }

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
			return badValue{err}
		}
	}
	return m.Mapper.Decode(ctx, target)
}

// fromEnvironment is a kong.ResolverFunc. It returns the text of a setting's variable, nil if that is
// not set. (kong can read variables too, but then it adds its own words to the table's sentence.)
func fromEnvironment(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
	e := setting(f)
	if e == nil {
		return nil, nil
	}
	text, set := os.LookupEnv(e.Line().Env())
	if !set {
		return nil, nil
	}
	if err := e.Check(text); err != nil {
		return nil, badValue{fmt.Errorf("%w (%s is %q)", err, e.Line().Env(), text)}
	}
	return text, nil
}

package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"lipsync/internal/settings"
)

// setting returns the setting that a flag makes, nil if it makes none.
func setting(f *kong.Flag) settings.Entry {
	for _, e := range settings.At(settings.Machine) {
		if e.Line().Name == f.Name {
			return e
		}
	}
	return nil
}

// describeFlags gives each flag of a setting the variable, the default and the help that the table of
// settings has for it. Some defaults depend on the machine: those are given by name.
func describeFlags(defaults map[string]string) kong.Option {
	return kong.PostBuild(func(k *kong.Kong) error {
		return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
			f, is := node.(*kong.Flag)
			if !is {
				return next(nil)
			}
			if e := setting(f); e != nil {
				describe(f, e.Line(), defaults[f.Name])
			} else if f.Help == "" {
				return fmt.Errorf("%s has no help, and is no setting", f)
			}
			return next(nil)
		})
	})
}

func describe(f *kong.Flag, line *settings.Row, computed string) {
	f.Envs = []string{line.Env()}
	f.Tag.Envs = f.Envs
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
	f.Help += "."
	f.OrigHelp = f.Help
}

// AfterApply is kong's: it refuses what a setting may not be.
func (*commands) AfterApply(command *kong.Context) error {
	for _, f := range command.Flags() {
		if e := setting(f); e != nil && f.Set {
			if err := e.Check(settings.Text(f.Target.Interface())); err != nil {
				return err
			}
		}
	}
	return nil
}

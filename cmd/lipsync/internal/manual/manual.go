// Package manual writes the manual page and the completion of shells from the commands and flags of the command line.
package manual

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"lipsync/cmd/lipsync/internal/flags"
	"lipsync/internal/domain/settings"
)

// Examples are calls of a command, by its path after lipsync.
type Examples map[string][]string

// Describe is an option of kong that shows the examples in the help of each command. Each command without others below it needs two.
func (e Examples) Describe() kong.Option {
	return kong.PostBuild(func(k *kong.Kong) error {
		for _, c := range commands(k.Model.Node) {
			calls := e[c.path]
			if len(calls) < 2 {
				return fmt.Errorf("%s has %d examples, want 2", c.path, len(calls))
			}
			c.node.Detail = "Examples:\n\n  " + strings.Join(calls, "\n  ")
		}
		return nil
	})
}

// command is a command that does something: one without others below it.
type command struct {
	path string // such as "keys create"
	node *kong.Node
}

func commands(n *kong.Node) (all []command) {
	for _, child := range n.Children {
		if child.Leaf() {
			path := child.Name
			for p := child.Parent; p.Parent != nil; p = p.Parent {
				path = p.Name + " " + path
			}
			all = append(all, command{path, child})
		}
		all = append(all, commands(child)...)
	}
	return all
}

// options returns the command's flags, in the order of their names.
func (c command) options() []*kong.Flag {
	var all []*kong.Flag
	for _, group := range c.node.AllFlags(true) {
		all = append(all, group...)
	}
	slices.SortFunc(all, func(a, b *kong.Flag) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Page returns the manual page lipsync(1), for man.
func Page(app *kong.Application, version string, e Examples) string {
	var b strings.Builder
	line := func(text string) { b.WriteString(text + "\n") }
	text := func(s string) { line(roff(s)) }
	line(`.TH LIPSYNC 1 "" "lipsync ` + roff(version) + `" "User Commands"`)
	line(".SH NAME\nlipsync \\- make the lips of a video follow a speech track")
	line(".SH SYNOPSIS\n.B lipsync\n.I COMMAND\n[\\fIARGUMENTS\\fR] [\\fIFLAGS\\fR]")
	line(".SH DESCRIPTION")
	text(app.Help)
	line(".SH COMMANDS")
	for _, c := range commands(app.Node) {
		line(".SS " + roff("lipsync "+c.path))
		text(c.node.Help)
		for _, a := range c.node.Positional {
			line(".TP\n\\fI" + roff(strings.ToUpper(a.Name)) + "\\fR")
			text(a.Help)
		}
		for _, f := range c.options() {
			line(".TP\n" + roff(f.String()))
			text(f.Help)
		}
		line(".PP\n.nf")
		for _, call := range e[c.path] {
			text(call)
		}
		line(".fi")
	}
	line(".SH ENVIRONMENT\nA flag counts more than its variable.")
	for _, entry := range settings.At(settings.Machine | settings.Caller) {
		row := entry.Line()
		line(".TP\n.B " + roff(row.Env()))
		text(row.Help + ": the same as " + row.Flag() + ".")
	}
	line(".SH EXIT STATUS\n0: it is done. 1: it failed. 2: the command line is wrong.")
	return b.String()
}

// roff escapes a text for man.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n\n", "\n.PP\n").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

// completed are the words that a shell can complete at a place of the command line.
type completed struct {
	path  string // of the command
	words []string
}

// tree returns the words that follow each command, and for each flag with values, the path and the flag with those.
func tree(app *kong.Application) (below, after, values []completed) {
	var visit func(path string, n *kong.Node)
	visit = func(path string, n *kong.Node) {
		var names []string
		for _, child := range n.Children {
			names = append(names, child.Name)
			visit(path+" "+child.Name, child)
		}
		for _, argument := range n.Positional {
			names = append(names, enum(argument)...)
		}
		if names != nil {
			below = append(below, completed{path, names})
		}
		if n.Parent == nil {
			return
		}
		var all []string
		for _, f := range (command{node: n}).options() {
			all = append(all, "--"+f.Name)
			if words := flags.ValuesOf(f); words != nil {
				values = append(values, completed{path + " --" + f.Name, words})
			}
		}
		after = append(after, completed{path, all})
	}
	visit("", app.Node)
	return below, after, values
}

// enum returns the values that an argument may have, nil if they are not a few.
func enum(argument *kong.Positional) []string {
	return strings.FieldsFunc(argument.Enum, func(r rune) bool { return r == ',' })
}

// Completion returns the script by which a shell completes the command line. It completes files where there is nothing else.
func Completion(app *kong.Application, shell string) string {
	switch shell {
	case "fish":
		return fish(app)
	case "zsh":
		return "#compdef lipsync\n" + words(app) + zsh
	default:
		return words(app) + bash
	}
}

// What bash and zsh call the function of words with. A file of completions is the body of a function that zsh calls at the first use.
const (
	bash = `_lipsync() {
  local found
  _lipsync_words "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[@]:1:COMP_CWORD-1}"
  COMPREPLY=($(compgen -W "$found" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _lipsync lipsync
`
	zsh = `_lipsync() {
  local found
  _lipsync_words "${words[CURRENT]}" "${(@)words[2,CURRENT-1]}"
  if [[ -n $found ]]; then compadd -- ${=found}; else _files; fi
}
if [[ ${funcstack[1]} == _lipsync ]]; then _lipsync; else compdef _lipsync lipsync; fi
`
)

// words returns a function, for bash and zsh, that sets found to the words that may follow: its arguments are the word to complete, and
// those before it.
func words(app *kong.Application) string {
	below, after, values := tree(app)
	var b strings.Builder
	cases := func(subject string, all []completed) {
		fmt.Fprintf(&b, "  case \"%s\" in\n", subject)
		for _, c := range all {
			fmt.Fprintf(&b, "    %q) found=%q ;;\n", c.path, strings.Join(c.words, " "))
		}
		b.WriteString("  esac\n")
	}
	var paths []string
	for _, c := range after {
		paths = append(paths, fmt.Sprintf("%q", c.path))
	}
	b.WriteString("_lipsync_words() {\n  local cur=\"$1\" prev= at= word\n  shift; found=\n")
	fmt.Fprintf(&b, "  for word; do\n    case \"$at $word\" in\n      %s) at=\"$at $word\" ;;\n    esac\n    prev=$word\n  done\n", strings.Join(paths, "|"))
	cases("$at $prev", values)
	b.WriteString("  if [ -n \"$found\" ]; then return; fi\n  case \"$cur\" in -*)\n")
	cases("$at", after)
	b.WriteString("  return ;; esac\n")
	cases("$at", below)
	b.WriteString("}\n")
	return b.String()
}

// fish returns the script for fish.
func fish(app *kong.Application) string {
	var b strings.Builder
	quoted := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	for _, n := range app.Children {
		fmt.Fprintf(&b, "complete -c lipsync -n __fish_use_subcommand -xa %s -d %s\n", n.Name, quoted(n.Help))
		for _, child := range n.Children {
			fmt.Fprintf(&b, "complete -c lipsync -n %s -xa %s -d %s\n", quoted("__fish_seen_subcommand_from "+n.Name), child.Name, quoted(child.Help))
		}
	}
	for _, c := range commands(app.Node) {
		var seen []string
		for word := range strings.FieldsSeq(c.path) {
			seen = append(seen, "__fish_seen_subcommand_from "+word)
		}
		for _, a := range c.node.Positional {
			if found := enum(a); found != nil {
				fmt.Fprintf(&b, "complete -c lipsync -n %s -xa %s\n", quoted(strings.Join(seen, "; and ")), quoted(strings.Join(found, " ")))
			}
		}
		for _, f := range c.options() {
			fmt.Fprintf(&b, "complete -c lipsync -n %s -l %s -d %s", quoted(strings.Join(seen, "; and ")), f.Name, quoted(f.Help))
			if words := flags.ValuesOf(f); words != nil {
				fmt.Fprintf(&b, " -xa %s", quoted(strings.Join(words, " ")))
			} else if !f.IsBool() {
				b.WriteString(" -r")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// Command page writes docs/settings.md and packaging/default from the table of settings.
//
//	page SETTINGS.md DEFAULT
package main

import (
	"fmt"
	"log"
	"os"
	"strings"

	"lipsync/internal/domain/settings"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: page SETTINGS.md DEFAULT")
	}
	for name, text := range map[string]string{os.Args[1]: page(), os.Args[2]: variables()} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// variables returns the file of the Debian package with the settings of the service, each as a comment with its default.
func variables() string {
	var b strings.Builder
	b.WriteString("# Settings of the service, as NAME=VALUE, with their defaults. /usr/share/doc/lipsync/docs/settings.md explains them.\n" +
		"# A change holds after: systemctl restart lipsync. To check one before:\n" +
		"#   lipsync serve --check\n# in an environment with these variables.\n")
	for _, e := range settings.At(settings.Machine) {
		line := e.Line()
		value := line.Default
		if line.Name == settings.Data.Name {
			value = "/var/lib/lipsync"
		}
		help := line.Help + "."
		if value == "" {
			help += " Default: " + strings.ReplaceAll(line.Without, "`", "") + "."
		}
		fmt.Fprintf(&b, "\n# %s\n#%s=%s\n", help, line.Env(), value)
	}
	return b.String()
}

const introduction = `# Settings

<!-- Code generated from the table in internal/domain/settings by go generate; DO NOT EDIT. -->

On one machine a setting is an option of ` + "`lipsync serve`" + `, or a variable of its environment: ` + "`--max-side` is `LIPSYNC_MAX_SIDE`" + `.

On AWS a setting is ` + "`lipsync:NAME`" + ` in CDK's context: under ` + "`context` in `infra/cdk.json`, or `-c lipsync:NAME=VALUE`" + `. Unknown
names and values that are not allowed are refused before anything is deployed. A setting given with ` + "`-c`" + ` holds for one deployment: see [deploy](../infra/README.md#deploy).
`

// page returns the page.
func page() string {
	var b strings.Builder
	b.WriteString(introduction)
	section(&b, "On one machine and on AWS", "Option | Name on AWS | Default | Meaning", shared)
	section(&b, "On one machine only", "Option | Default | Meaning", onMachine)
	section(&b, "Of commands that call a service", "Option | Variable | Default | Meaning", ofCaller)
	section(&b, "On AWS only", "Name | Default | Meaning", onAWS)
	return b.String()
}

func section(b *strings.Builder, title, columns string, row func(settings.Entry) []string) {
	fmt.Fprintf(b, "\n## %s\n", title)
	table(b, columns, row)
}

// table writes a table of the settings for which row returns cells.
func table(b *strings.Builder, columns string, row func(settings.Entry) []string) {
	fmt.Fprintf(b, "\n| %s |\n%s|\n", columns, strings.Repeat("|---", strings.Count(columns, "|")+1))
	for _, e := range settings.At(settings.Machine | settings.Caller | settings.Stack | settings.Functions | settings.Runner) {
		if cells := row(e); cells != nil {
			fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
		}
	}
}

const operators = settings.Machine | settings.Stack

func shared(e settings.Entry) []string {
	if e.Line().Where&operators != operators {
		return nil
	}
	return []string{option(e.Line()), name(e.Line()), defaults(e), meaning(e.Line())}
}

func onMachine(e settings.Entry) []string {
	if e.Line().Where&operators != settings.Machine {
		return nil
	}
	return []string{option(e.Line()), defaults(e), meaning(e.Line())}
}

func ofCaller(e settings.Entry) []string {
	if e.Line().Where&settings.Caller == 0 {
		return nil
	}
	return []string{option(e.Line()), code(e.Line().Env()), defaults(e), meaning(e.Line())}
}

func onAWS(e settings.Entry) []string {
	if e.Line().Where&operators != settings.Stack {
		return nil
	}
	return []string{name(e.Line()), defaults(e), meaning(e.Line())}
}

func code(text string) string { return "`" + text + "`" }

func option(line *settings.Row) string {
	return code(strings.TrimSpace(line.Flag() + " " + line.Example))
}

func name(line *settings.Row) string {
	return code(line.OnAWS())
}

// defaults returns the default, and in the units on AWS too where those differ.
func defaults(e settings.Entry) string {
	line := e.Line()
	if line.Without != "" {
		return line.Without
	}
	text := code(line.Default)
	if line.Where&operators == operators && e.StackDefault() != line.Default {
		text += ", on AWS " + code(e.StackDefault())
	}
	return text
}

func meaning(line *settings.Row) string {
	return strings.TrimSpace(line.Help + ". " + line.More)
}

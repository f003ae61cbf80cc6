package main

import (
	"fmt"
	"strings"

	"lipsync/internal/domain/settings"
)

// help returns the text of --help.
func help() string {
	var text strings.Builder
	text.WriteString(`usage: runner [function]

Does lip sync requests as long as any wait, and then stays for a few minutes at most.
As the function of Lambda that does small requests, it does these, each in a process
of its own, and ends its call once none waits.
All settings come from the environment:

`)
	for _, e := range settings.At(settings.Runner) {
		line := e.Line()
		optional := ""
		if line.Optional {
			optional = ", optional"
		}
		fmt.Fprintf(&text, "  %s%s\n      %s\n", line.Env(), optional, line.Help)
	}
	text.WriteString(`  GOMAXPROCS, optional
      Number of cores to use; the default is all

Exit status: 0 if nothing is left to do, or if the runner was told to stop and
released its request; 1 otherwise.
`)
	return text.String()
}

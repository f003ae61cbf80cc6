package main

import (
	"fmt"
	"strings"

	"lipsync/internal/settings"
)

// help is what --help prints.
func help() string {
	var text strings.Builder
	text.WriteString(`usage: runner

Does lip sync requests as long as some wait, and for some minutes more at most. All
settings come from the environment:

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
      How many cores to use, else all

Exit status: 0 when nothing is left to do, or when told to stop: the request was
given back then. 1 for anything else.
`)
	return text.String()
}

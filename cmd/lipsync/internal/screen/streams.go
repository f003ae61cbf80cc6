package screen

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Streams are the standard output, the standard error and the standard input of a command.
type Streams struct {
	Out, Err io.Writer
	In       io.Reader
}

// Ask asks a question on a terminal, and reports whether the answer is y. Without a terminal it is no.
func (s Streams) Ask(question string) bool {
	if !IsTerminal(s.In) || !IsTerminal(s.Err) {
		return false
	}
	fmt.Fprint(s.Err, "\n", question)
	answer, _ := bufio.NewReader(s.In).ReadString('\n') // an answer that can't be read is no
	return strings.EqualFold(strings.TrimSpace(answer), "y")
}

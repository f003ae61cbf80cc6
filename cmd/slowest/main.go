// Command slowest runs go test with its arguments, prints what go test prints, and then lists the
// slowest tests and the seconds of each package. Its exit status is that of go test.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

func main() {
	status, err := run(os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "slowest:", err)
		status = max(status, 1)
	}
	os.Exit(status)
}

// run runs go test, and returns its exit status.
func run(args []string, stdout, stderr io.Writer) (status int, err error) {
	test := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	test.Stderr = stderr
	events, err := test.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := test.Start(); err != nil {
		return 0, fmt.Errorf("start go test: %w", err)
	}
	r := newReport(stdout)
	read := r.read(events)
	if read == nil {
		r.finish()
	}
	err = test.Wait()
	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		return exit.ExitCode(), read
	}
	return 0, errors.Join(read, err)
}

// Command evil tries what a hijacked ffmpeg could. Tests run it in place of ffmpeg. It reads
// attempts, one per line, from the file of its last argument -i, or from standard input. It writes
// the result of each to standard error: "did" or "failed", the line, and the reason.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "sleep" {
		time.Sleep(time.Minute)
		return
	}
	script := io.Reader(os.Stdin)
	for i, argument := range os.Args {
		if argument != "-i" {
			continue
		}
		f, err := os.Open(strings.TrimPrefix(os.Args[i+1], "file:"))
		if err == nil {
			script = f
		}
	}
	for lines := bufio.NewScanner(script); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if err := attempt(fields[0], fields[1:]); err != nil {
			fmt.Fprintf(os.Stderr, "failed %s: %v\n", lines.Text(), err)
		} else {
			fmt.Fprintf(os.Stderr, "did %s\n", lines.Text())
		}
	}
	os.Exit(1)
}

func attempt(verb string, objects []string) error {
	switch object := objects[0]; verb {
	case "read":
		_, err := os.ReadFile(object)
		return err
	case "list":
		_, err := os.ReadDir(object)
		return err
	case "write":
		return os.WriteFile(object, []byte("evil"), 0o600)
	case "change": // open to write
		f, err := os.OpenFile(object, os.O_WRONLY, 0)
		if err == nil {
			err = f.Close()
		}
		return err
	case "name":
		return nameThread(object)
	case "listen": // as NVIDIA's driver does
		return listen(object)
	case "run":
		p, err := os.StartProcess(object, []string{object, "-c", "true"}, &os.ProcAttr{})
		if err == nil {
			_, err = p.Wait()
		}
		return err
	case "descend": // leave a process behind, in its own session or not
		_, err := os.StartProcess("/proc/self/exe", []string{"evil", "sleep"}, &os.ProcAttr{
			Files: []*os.File{nil, os.Stdout}, Sys: &syscall.SysProcAttr{Setsid: object == "session"},
		})
		return err
	case "tcp", "udp", "unix", "unixpacket":
		return dial(verb, object)
	case "descriptor":
		fd, _ := strconv.Atoi(object)
		_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		return err
	case "limit":
		pid, _ := strconv.Atoi(object)
		return unix.Prlimit(pid, unix.RLIMIT_CORE, nil, &unix.Rlimit{})
	case "memory": // at an address
		address, _ := strconv.ParseUint(object, 10, 64)
		return reach(verb, uintptr(address), objects[1:])
	case "trace", "signal":
		return reach(verb, 0, objects)
	case "own":
		return own(object, objects[1])
	case "choose-signal":
		return chooseSignal()
	case "namespace":
		return namespace(object, objects[1])
	}
	return fmt.Errorf("unknown attempt %q", verb)
}

// dial connects, and expects one byte as an answer.
func dial(network, address string) error {
	c, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err := c.Write([]byte("?")); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 1))
	return err
}

// reach tries the threads of a process, whose id is first, until it reaches one.
func reach(verb string, address uintptr, ids []string) (err error) {
	process, _ := strconv.Atoi(ids[0])
	for _, id := range ids {
		thread, _ := strconv.Atoi(id)
		switch verb {
		case "memory":
			b := make([]byte, 1)
			_, err = unix.ProcessVMReadv(thread, []unix.Iovec{{Base: &b[0], Len: 1}}, []unix.RemoteIovec{{Base: address, Len: 1}}, 0)
		case "trace":
			_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(thread), 0, 0, 0, 0)
			if err = nil; errno != 0 {
				err = errno
			}
		case "signal": // the null signal, which has no effect
			err = unix.Tgkill(process, thread, unix.SIGCONT)
		}
		if err == nil {
			return nil
		}
	}
	return err
}

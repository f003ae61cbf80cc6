// Package sandbox starts programs that read untrusted files, and restricts them to the files that
// they need.
//
// On Linux, restrictions belong to a thread, and a child inherits those of the thread that starts
// it. So each program is started by a thread of its own, which first restricts itself. That thread
// does nothing else, and lives as long as the program.
package sandbox

import (
	"cmp"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Sandbox has the optional layers that restrict a program, since not every host has them all. The
// zero value has none. On every host, the program gains no privileges, has no capability except the one
// to ignore file permissions, gets no open file except the standard ones, and is killed when this
// process ends. When the program ends, the rest of its process group is killed.
type Sandbox struct {
	Landlock   int  // version of its interface in the kernel; 0 means none
	Seccomp    bool // denies sockets, access to other processes, and parts of the kernel that media don't need
	Namespaces bool // a network without devices; the program sees only its own processes, and all end with it, except with NVIDIA's driver
}

// Available returns the layers that this kernel offers. Only a trial shows whether a program runs
// in them, and whether this process may create namespaces: see Largest.
func Available() Sandbox {
	return Sandbox{Landlock: landlockVersion(), Seccomp: hasSeccomp(), Namespaces: true}
}

// Largest returns the layers of s in which a trial succeeds: all of them, or those that succeed
// when added one by one.
func (s Sandbox) Largest(try func(Sandbox) error) Sandbox {
	if try(s) == nil {
		return s
	}
	var kept Sandbox
	for _, larger := range []func(Sandbox) Sandbox{
		func(k Sandbox) Sandbox { k.Landlock = s.Landlock; return k },
		func(k Sandbox) Sandbox { k.Seccomp = s.Seccomp; return k },
		func(k Sandbox) Sandbox { k.Namespaces = s.Namespaces; return k },
	} {
		if more := larger(kept); more != kept && try(more) == nil {
			kept = more
		}
	}
	return kept
}

var _ slog.LogValuer = (*Sandbox)(nil)

func (s Sandbox) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("landlock", s.Landlock), slog.Bool("seccomp", s.Seccomp), slog.Bool("namespaces", s.Namespaces))
}

// String lists the layers, for people.
func (s Sandbox) String() string {
	var layers []string
	if s.Landlock > 0 {
		layers = append(layers, fmt.Sprint("Landlock ", s.Landlock))
	}
	if s.Seccomp {
		layers = append(layers, "seccomp")
	}
	if s.Namespaces {
		layers = append(layers, "namespaces")
	}
	return cmp.Or(strings.Join(layers, ", "), "no layer")
}

// Start starts a program that may open the files, and with Landlock no others. It takes the
// working folder, environment and standard files from cmd. The caller must call wait, which does
// what cmd.Wait does, and may be called more than once.
func (s Sandbox) Start(cmd *exec.Cmd, files Files) (wait func() error, err error) {
	// The program gets its own process group, so that an interrupt from the terminal reaches only
	// this process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if s.Namespaces {
		cmd.SysProcAttr.Cloneflags = ownNamespaces(files.NVIDIA)
	}
	started, ended := make(chan error), make(chan struct{})
	onThread(func() {
		err := s.restrict(files)
		if err == nil {
			err = cmd.Start()
		}
		started <- err
		if err == nil {
			awaitEnd(cmd.Process.Pid)
		}
		close(ended)
	})
	if err := <-started; err != nil {
		return nil, err
	}
	return sync.OnceValue(func() error {
		<-ended // it has not been waited for yet, so the number of its group can't belong to another
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		return cmd.Wait()
	}), nil
}

// restrict restricts the calling thread permanently.
func (s Sandbox) restrict(files Files) error {
	if files.NVIDIA && s.Namespaces {
		if err := protectKernel(); err != nil {
			return err
		}
	}
	if err := dropPrivileges(); err != nil {
		return err
	}
	if s.Landlock > 0 {
		if err := landlock(s.Landlock, files); err != nil {
			return err
		}
	}
	if s.Seccomp {
		return seccomp(s.Namespaces, files.NVIDIA)
	}
	return nil
}

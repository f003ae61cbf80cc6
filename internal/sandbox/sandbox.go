// Package sandbox starts programs that read what strangers send, and holds them to the
// files that they need.
//
// Restrictions of Linux belong to a thread, and a child inherits those of the thread that
// starts it. So each program is started by a thread of its own, which restricts itself
// before and does nothing else. That thread lives as long as the program.
package sandbox

import (
	"log/slog"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Sandbox says which layers hold a program back, where not every host has them. The zero
// value has none of them. These hold on every host: the program gains no privileges, has
// no capability except to pass over permissions of files, gets no open file except its
// standard ones, and is killed when this process ends, and all that is left of its process group
// when the program itself ends.
type Sandbox struct {
	Landlock   int  // version of its interface in the kernel; 0: none
	Seccomp    bool // no sockets, no reach into other processes, nothing of the kernel that media don't need
	Namespaces bool // a network without devices; it sees no process but its own, and all end with it
}

// Available returns the layers that this kernel offers. Whether a program runs in them,
// and whether this process may make namespaces, shows a trial: see Largest.
func Available() Sandbox {
	return Sandbox{Landlock: landlockVersion(), Seccomp: hasSeccomp(), Namespaces: true}
}

// Largest returns the layers of s in which a trial succeeds: all, else those that can be
// added one by one.
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

// LogValue implements slog.LogValuer.
func (s Sandbox) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("landlock", s.Landlock), slog.Bool("seccomp", s.Seccomp), slog.Bool("namespaces", s.Namespaces))
}

// Start starts a program that may open the files, and no others where Landlock holds. Its
// working folder, environment and standard files are those of cmd. The function wait is
// cmd.Wait, and may be called more than once; it must be called.
func (s Sandbox) Start(cmd *exec.Cmd, files Files) (wait func() error, err error) {
	// A group of its own, so that a terminal's interrupt reaches only this process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if s.Namespaces {
		cmd.SysProcAttr.Cloneflags = ownNamespaces()
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
		<-ended // and not yet waited for, so that the group's number is still its own
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		return cmd.Wait()
	}), nil
}

// restrict restricts the calling thread, for good.
func (s Sandbox) restrict(files Files) error {
	if err := dropPrivileges(); err != nil {
		return err
	}
	if s.Landlock > 0 {
		if err := landlock(s.Landlock, files); err != nil {
			return err
		}
	}
	if s.Seccomp {
		return seccomp(s.Namespaces)
	}
	return nil
}

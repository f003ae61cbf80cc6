package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// onThread calls f in a goroutine and on a thread of its own, which ends with f. The main
// thread is never taken: it can't end, and other processes take its restrictions for those
// of the process.
func onThread(f func()) {
	locked := make(chan struct{})
	go func() {
		runtime.LockOSThread() // without an unlocking: so the thread ends
		if unix.Gettid() == unix.Getpid() {
			onThread(f)
			runtime.UnlockOSThread()
			close(locked)
			return
		}
		close(locked)
		f()
	}()
	<-locked
}

// awaitEnd waits until a child has ended, and leaves it to be waited for. The thread that
// started the child has to live that long: the kernel takes the end of that thread for
// the end of the parent.
func awaitEnd(pid int) {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// dropPrivileges takes from the calling thread's children what they could gain or inherit.
func dropPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	// Libraries may open files that a child would inherit. Kernels before 5.11 can't tell
	// them to close all at once.
	_ = unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC)
	for c := range unix.CAP_LAST_CAP + 1 {
		if c == unix.CAP_DAC_OVERRIDE { // root works on files of others
			continue
		}
		// Who may not drop them is not root, and has none that a child would get, except
		// inherited ones.
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&header, &caps[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	caps[0].Inheritable, caps[1].Inheritable = 0, 0
	if err := unix.Capset(&header, &caps[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}

// ownNamespaces returns which namespaces a program gets. Who is not root needs one of users
// to be allowed the others. Root doesn't, and would lose the right to files of others.
func ownNamespaces() uintptr {
	const own = unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC
	if os.Geteuid() == 0 {
		return own
	}
	return own | unix.CLONE_NEWUSER
}

// Hide keeps other processes of the same user from reading this one's memory and
// environment, and from tracing it. It writes no core dump any more.
func Hide() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("not dumpable: %w", err)
	}
	return nil
}

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// onThread calls f in a goroutine on a thread of its own, which ends with f. It never uses the
// main thread: that one can't end, and other processes would take its restrictions for those of
// this process.
func onThread(f func()) {
	locked := make(chan struct{})
	go func() {
		runtime.LockOSThread() // without unlocking, so the thread ends
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

// awaitEnd waits until a child has ended, without reaping it. The thread that started the child
// must live that long, because the kernel treats the end of that thread as the end of the parent.
func awaitEnd(pid int) {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// dropPrivileges drops what children of the calling thread could gain or inherit.
func dropPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	// Libraries may open files that a child would inherit. Kernels before 5.11 can't mark them all
	// close-on-exec in one call.
	_ = unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC)
	for c := range unix.CAP_LAST_CAP + 1 {
		if c == unix.CAP_DAC_OVERRIDE { // root needs it for files of other users
			continue
		}
		// A process that may not drop capabilities is not root; its children get none except
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

// ownNamespaces returns the namespaces for a program. A user other than root needs a user
// namespace to create the others. Root doesn't, and would lose its access to other users' files in
// one.
func ownNamespaces(nvidia bool) uintptr {
	own := uintptr(unix.CLONE_NEWNET | unix.CLONE_NEWIPC)
	if !nvidia {
		own |= unix.CLONE_NEWPID
	}
	if os.Geteuid() != 0 {
		own |= unix.CLONE_NEWUSER
	}
	return own
}

// Hide keeps other processes of the same user from tracing this one and from reading its memory
// and environment. It also turns off core dumps.
func Hide() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("not dumpable: %w", err)
	}
	return nil
}

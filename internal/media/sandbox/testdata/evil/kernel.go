package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// own has a file send its signals to a process.
func own(how, id string) error {
	pid, err := strconv.Atoi(id)
	if err != nil {
		return err
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	switch how {
	case "fcntl":
		_, err = unix.FcntlInt(uintptr(ends[0]), unix.F_SETOWN, pid)
	case "fcntl-ex":
		owner := struct{ kind, pid int32 }{1, int32(pid)} // F_OWNER_PID
		_, _, err = call(unix.SYS_FCNTL, uintptr(ends[0]), unix.F_SETOWN_EX, uintptr(unsafe.Pointer(&owner)))
	case "ioctl":
		err = unix.IoctlSetPointerInt(ends[0], 0x8901, pid) // FIOSETOWN
	case "ioctl-group":
		err = unix.IoctlSetPointerInt(ends[0], unix.SIOCSPGRP, pid)
	}
	return err
}

// chooseSignal sets which signal a file sends.
func chooseSignal() error {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	_, err := unix.FcntlInt(uintptr(ends[0]), unix.F_SETSIG, int(unix.SIGKILL))
	return err
}

// nameThread names the calling thread as NVIDIA's driver does.
func nameThread(name string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return os.WriteFile(fmt.Sprintf("/proc/self/task/%d/comm", unix.Gettid()), []byte(name), 0o666)
}

// listen makes a local socket of packets, and listens at an address.
func listen(address string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: address}); err != nil {
		return err
	}
	return unix.Listen(fd, 1)
}

// namespace creates namespaces or enters one, by the named system call.
func namespace(how, flags string) error {
	kinds, err := strconv.ParseUint(flags, 0, 32)
	if err != nil {
		return err
	}
	switch how {
	case "clone":
		return child(func() (uintptr, uintptr, error) {
			return call(unix.SYS_CLONE, uintptr(kinds)|uintptr(unix.SIGCHLD), 0, 0)
		}, nil)
	case "clone3":
		args := [8]uint64{0: kinds, 4: uint64(unix.SIGCHLD)}
		return child(func() (uintptr, uintptr, error) {
			return call(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
		}, nil)
	case "unshare": // in a process with one thread, as the kernel requires
		return child(func() (uintptr, uintptr, error) { return call(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0) },
			func() unix.Errno { _, _, err := unix.RawSyscall(unix.SYS_UNSHARE, uintptr(kinds), 0, 0); return err })
	case "setns": // fails only because there is no such namespace
		if err := unix.Setns(-1, int(kinds)); !errors.Is(err, unix.EBADF) {
			return err
		}
		return nil
	}
	return fmt.Errorf("unknown call %q", how)
}

func call(number, a, b, c uintptr) (uintptr, uintptr, error) {
	r, s, err := unix.RawSyscall6(number, a, b, c, 0, 0, 0)
	if err != 0 {
		return r, s, err
	}
	return r, s, nil
}

// child starts a process with one thread, which calls do. It returns why that failed. do must make
// only system calls.
func child(fork func() (uintptr, uintptr, error), do func() unix.Errno) error {
	pid, _, err := fork()
	if err != nil {
		return err
	}
	if pid == 0 {
		var why unix.Errno
		if do != nil {
			why = do()
		}
		unix.RawSyscall(unix.SYS_EXIT_GROUP, uintptr(why), 0, 0)
	}
	var end unix.WaitStatus
	if _, err := unix.Wait4(int(pid), &end, 0, nil); err != nil {
		return err
	}
	if code := end.ExitStatus(); code != 0 {
		return unix.Errno(code)
	}
	return nil
}

package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// denied returns the system calls that fail with EPERM. A list of allowed calls would have to
// follow each version of ffmpeg, its libraries and NVIDIA's driver. Other layers restrict files
// and processes.
func denied() []uint32 {
	return []uint32{
		// networks, also other than the program's own
		unix.SYS_SOCKET, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		// other processes
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP,
		unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
		unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN,
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		// namespaces and mounts
		unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT, unix.SYS_PIVOT_ROOT, unix.SYS_MOUNT, unix.SYS_UMOUNT2,
		unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
		unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
		// the kernel's own affairs
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT, unix.SYS_SYSLOG, unix.SYS_ACCT,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
		unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_QUOTACTL, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
		unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP,
	}
}

// signals returns the calls that send signals. In a PID namespace they reach no other processes,
// and Go needs kill to start a process there.
func signals() []uint32 {
	return []uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO}
}

// judged returns the calls whose arguments decide whether they are allowed.
func judged(namespaces, nvidia bool) []judgement {
	const apart = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	clones := []uint32{0}
	if namespaces { // The filter denies the program what the thread that starts it needs.
		clones = append(clones, uint32(ownNamespaces(nvidia)))
	}
	return []judgement{
		{call: unix.SYS_PRLIMIT64, argument: 0, values: []uint32{0}}, // limits of the caller itself
		// between Go's threads; until the program starts, the caller is one
		{call: unix.SYS_TGKILL, argument: 2, values: []uint32{uint32(unix.SIGURG)}},
		{call: unix.SYS_CLONE, argument: 0, mask: apart, values: clones},
		// which process gets the signals of files and sockets, and which signals
		{call: unix.SYS_FCNTL, argument: 1, values: []uint32{unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_SETSIG}, refused: true},
		{call: unix.SYS_IOCTL, argument: 1, values: []uint32{fioSetOwn, unix.SIOCSPGRP}, refused: true},
	}
}

// fioSetOwn is FIOSETOWN of Linux's asm-generic/sockios.h.
const fioSetOwn = 0x8901

// judgement allows a call only with the listed values of an argument, or refuses it only with
// them.
type judgement struct {
	call, argument uint32
	mask           uint32 // bits of the argument that count; 0 means all 32
	values         []uint32
	refused        bool
}

// instructions returns the part of the filter that decides about the call, and skips all others.
func (j judgement) instructions() []unix.SockFilter {
	listed, other := uint32(unix.SECCOMP_RET_ALLOW), uint32(refuse)
	if j.refused {
		listed, other = other, listed
	}
	mask := j.mask
	if mask == 0 {
		mask = 1<<32 - 1
	}
	f := []unix.SockFilter{
		{Code: equal, Jf: uint8(len(j.values) + 4), K: j.call},
		{Code: load, K: dataArgs + 8*j.argument},
		{Code: and, K: mask},
	}
	for i, value := range j.values {
		f = append(f, unix.SockFilter{Code: equal, Jt: uint8(len(j.values) - i), K: value})
	}
	return append(f, unix.SockFilter{Code: end, K: other}, unix.SockFilter{Code: end, K: listed})
}

// These are instructions of filters.
const (
	load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	and   = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	least = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	end   = unix.BPF_RET | unix.BPF_K
)

// These are offsets in struct seccomp_data, which a filter reads: the number of the call, the
// architecture, and arguments of 8 bytes with the low half first.
const (
	dataCall = 0
	dataArch = 4
	dataArgs = 16
)

// x32Call is the bit by which call numbers of the x32 ABI differ from those of x86-64.
const x32Call = 0x40000000

// filter returns the program that allows or denies a system call by its number and arguments. It
// denies calls of other architectures, which the same processor may also run.
func filter(arch uint32, namespaces, nvidia bool) []unix.SockFilter {
	refused := denied()
	if !namespaces || nvidia {
		refused = append(refused, signals()...)
	}
	f := []unix.SockFilter{
		{Code: load, K: dataArch},
		{Code: equal, Jt: 1, K: arch},
		{Code: end, K: refuse},
		{Code: load, K: dataCall},
	}
	if nvidia {
		f = append(f, lonelySockets()...)
	}
	for _, j := range judged(namespaces, nvidia) {
		f = append(f, j.instructions()...)
	}
	f = append(f, []unix.SockFilter{
		// The flags of clone3 are in memory, which a filter can't read. C libraries fall back to
		// clone.
		{Code: equal, Jf: 1, K: unix.SYS_CLONE3},
		{Code: end, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: least, Jt: uint8(len(refused) + 1), K: x32Call},
	}...)
	for i, call := range refused {
		f = append(f, unix.SockFilter{Code: equal, Jt: uint8(len(refused) - i), K: call})
	}
	return append(f, unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ALLOW}, unix.SockFilter{Code: end, K: refuse})
}

const refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)

// arch returns the kernel's number for the architecture, or 0 for one whose calls are not known
// here.
func arch() uint32 {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64
	}
	return 0
}

func hasSeccomp() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return err == 0 && arch() != 0
}

// seccomp installs the filter for the calling thread and its children. It turns off the
// mitigations of speculative execution that the kernel would add, since they are slow, and the
// child runs no other user's code.
func seccomp(namespaces, nvidia bool) error {
	// Go checks once in a process whether it may signal by file descriptors. That must happen
	// before the filter is installed.
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Release()
	}
	f := filter(arch(), namespaces, nvidia)
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, uintptr(unsafe.Pointer(&program))); err != 0 {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}

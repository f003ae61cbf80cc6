package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// supervised is the first argument with which the test's own program starts another program, which
// the next arguments name. It reports that program's writes at the socket that is its file 3.
const supervised = "supervised"

// writes returns the system calls that change a file, each with the number of the argument that is
// the file.
func writes() map[int]int {
	return map[int]int{
		unix.SYS_WRITE: 0, unix.SYS_WRITEV: 0, unix.SYS_PWRITE64: 0, unix.SYS_FSYNC: 0, unix.SYS_FDATASYNC: 0,
		unix.SYS_FTRUNCATE: 0, unix.SYS_FALLOCATE: 0, unix.SYS_COPY_FILE_RANGE: 2,
	}
}

// execSupervised replaces this program by the command. The kernel then asks the process at the other
// end of the socket about each write of the command and of its children.
func execSupervised(command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	const load, equal, end = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	filter := []unix.SockFilter{{Code: load, K: 0}} // load the number of the call
	left := len(writes())
	for call := range writes() {
		filter = append(filter, unix.SockFilter{Code: equal, Jt: uint8(left), K: uint32(call)})
		left--
	}
	filter = append(filter, unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ALLOW}, unix.SockFilter{Code: end, K: unix.SECCOMP_RET_USER_NOTIF})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread() // this thread becomes the command
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	fd, _, number := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&program)))
	if number != 0 {
		return fmt.Errorf("seccomp: %w", number)
	}
	if err := errors.Join(unix.Sendmsg(3, []byte{0}, unix.UnixRights(int(fd)), nil, 0), unix.Close(3)); err != nil {
		return err
	}
	return syscall.Exec(path, command, os.Environ())
}

// injector makes writes of a program fail.
type injector struct {
	disk uint64 // number of the device on whose files writes fail

	mu     sync.Mutex
	random *rand.Rand
	left   int // number of writes that will fail
	failed int // number of writes that failed
}

// start starts a command. From then on the injector judges its writes.
func (i *injector) start(t *testing.T, data string, command *exec.Cmd) *server {
	t.Helper()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(ends[1]), "writes")
	defer theirs.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.Command(self, append([]string{supervised}, command.Args...)...)
	process.ExtraFiles = []*os.File{theirs}
	go func() {
		if err := i.judgeAll(ends[0]); err != nil {
			t.Error(err)
		}
	}()
	return start(t, data, process)
}

// judgeAll gets the file at which the kernel asks from the socket, and answers until the program and
// all its children have ended.
func (i *injector) judgeAll(socket int) error {
	defer unix.Close(socket)
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(socket, make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		return fmt.Errorf("the program is not supervised: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil {
		return err
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	defer unix.Close(fds[0])
	for {
		ready := []unix.PollFd{{Fd: int32(fds[0]), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err != nil && err != unix.EINTR {
			return err
		}
		switch {
		case ready[0].Revents&unix.POLLIN != 0:
			i.judge(fds[0])
		case ready[0].Revents != 0:
			return nil
		}
	}
}

// question is struct seccomp_notif of the kernel: a call that a thread makes.
type question struct {
	id          uint64
	thread      uint32
	flags       uint32
	call        int32
	arch        uint32
	instruction uint64
	arguments   [6]uint64
}

// answer is struct seccomp_notif_resp.
type answer struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

// judge answers one question. A thread that has ended meanwhile needs no answer.
func (i *injector) judge(fd int) {
	var q question
	if _, _, err := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&q))); err != 0 {
		return
	}
	a := answer{id: q.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	if i.fails(q) {
		a.err, a.flags = -int32(unix.EIO), 0
	}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&a)))
}

// fails decides whether a call fails: one of two writes to the device fails, until enough have
// failed.
func (i *injector) fails(q question) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.left == 0 {
		return false
	}
	var file unix.Stat_t
	path := fmt.Sprintf("/proc/%d/fd/%d", q.thread, int32(q.arguments[writes()[int(q.call)]]))
	if unix.Stat(path, &file) != nil || file.Dev != i.disk || i.random.IntN(2) == 0 {
		return false
	}
	i.left--
	i.failed++
	return true
}

// fail makes n of the next writes fail. It returns a function that ends that.
func (i *injector) fail(n int) (end func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.left = n
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.left = 0
	}
}

// broke returns the number of writes that have failed.
func (i *injector) broke() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.failed
}

package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// proc is where the kernel shows processes and its settings. The driver of NVIDIA doesn't start unless
// it can name its threads, by /proc/self/task/ID/comm. These files don't exist before the program
// starts, so Landlock grants writing to all of /proc, where the kernel's own rights remain. The
// numbers of threads are those of the namespace in which /proc was mounted, so the program stays in it.
const proc = "/proc"

// protectKernel makes the files of /proc that don't belong to processes read-only for the calling
// thread and its children, if it is root. For other users the kernel does so.
func protectKernel() error {
	if os.Geteuid() != 0 {
		return nil
	}
	entries, err := os.ReadDir(proc)
	if err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("own mounts: %w", err)
	}
	if err := unix.Mount("", proc, "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("own mounts: %w", err)
	}
	for _, e := range entries {
		if name := e.Name(); e.Type() == fs.ModeSymlink || '0' <= name[0] && name[0] <= '9' {
			continue
		}
		path := filepath.Join(proc, e.Name())
		err := unix.Mount(path, path, "", unix.MS_BIND, "")
		if err == nil {
			err = unix.Mount("", path, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
		}
		if err != nil {
			return fmt.Errorf("protect %s: %w", path, err)
		}
	}
	return nil
}

// lonelySockets returns the part of the filter that allows the sockets that NVIDIA's driver makes, and
// lets none of them connect: the driver looks for a service that shares the GPU, and does without one
// that isn't there. Sockets of this kind send nothing unless they are connected.
func lonelySockets() []unix.SockFilter {
	const kind = 1<<32 - 1 - (unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK) // the bits of a type that aren't flags
	return []unix.SockFilter{
		{Code: equal, Jf: 1, K: unix.SYS_CONNECT},
		{Code: end, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOENT)},
		{Code: equal, Jf: 7, K: unix.SYS_SOCKET},
		{Code: load, K: dataArgs},
		{Code: equal, Jf: 3, K: unix.AF_UNIX},
		{Code: load, K: dataArgs + 8},
		{Code: and, K: kind},
		{Code: equal, Jt: 1, K: unix.SOCK_SEQPACKET},
		{Code: end, K: refuse},
		{Code: end, K: unix.SECCOMP_RET_ALLOW},
	}
}

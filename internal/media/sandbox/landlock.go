package sandbox

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Files are the files that a program may open. A folder stands for everything in it. Paths that
// don't exist are ignored.
type Files struct {
	Run     []string // executables, and the loader that their first bytes name
	Read    []string
	List    []string // folders, to read and to list
	Write   []string // and to read
	Devices []string // to read, write and control
	NVIDIA  bool     // the program uses NVIDIA's driver, which names its threads in /proc, and makes sockets
}

// And returns the files of both.
func (f Files) And(g Files) Files {
	join := func(a, b []string) []string { return append(a[:len(a):len(a)], b...) }
	return Files{
		join(f.Run, g.Run), join(f.Read, g.Read), join(f.List, g.List), join(f.Write, g.Write), join(f.Devices, g.Devices), f.NVIDIA || g.NVIDIA,
	}
}

// These are rights to files, as Landlock defines them.
const (
	readFile  = unix.LANDLOCK_ACCESS_FS_READ_FILE
	listFiles = unix.LANDLOCK_ACCESS_FS_READ_DIR | readFile
	runFile   = unix.LANDLOCK_ACCESS_FS_EXECUTE | readFile
	writeFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | readFile
	useDevice = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | readFile
)

// landlockVersion returns the version of Landlock's interface, or 0 if the kernel has none.
func landlockVersion() int {
	version, _, err := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err != 0 {
		return 0
	}
	return int(version)
}

// handled returns all rights that a version knows. Landlock denies each of them unless a rule
// grants it. Signals are not among the scopes, because the threads of this process need to send
// them to each other.
func handled(version int) unix.LandlockRulesetAttr {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1}
	for _, later := range []struct {
		version         int
		fs, net, scopes uint64
	}{
		{version: 2, fs: unix.LANDLOCK_ACCESS_FS_REFER},
		{version: 3, fs: unix.LANDLOCK_ACCESS_FS_TRUNCATE},
		{version: 4, net: unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP},
		{version: 5, fs: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
		{version: 6, scopes: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET},
		{version: 9, fs: unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX},
		{version: 10, net: unix.LANDLOCK_ACCESS_NET_BIND_UDP | unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP},
	} {
		if version >= later.version {
			attr.Handled_access_fs |= later.fs
			attr.Handled_access_net |= later.net
			attr.Scoped |= later.scopes
		}
	}
	return attr
}

// landlock restricts the calling thread and its children to the files, and closes networks as far
// as the version can.
func landlock(version int, files Files) error {
	attr := handled(version)
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	defer unix.Close(int(ruleset))
	var threads []string
	if files.NVIDIA {
		threads = []string{proc}
	}
	for _, rule := range []struct {
		paths  []string
		rights uint64
	}{
		{files.Run, runFile}, {files.Read, readFile}, {files.List, listFiles}, {files.Write, writeFile}, {threads, writeFile},
		// Go opens /dev/null in place of a standard file that is not set.
		{append([]string{"/dev/null"}, files.Devices...), useDevice},
	} {
		for _, path := range rule.paths {
			if err := allow(ruleset, path, rule.rights&attr.Handled_access_fs); err != nil {
				return fmt.Errorf("landlock: %s: %w", path, err)
			}
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}

// allow adds a rule to a ruleset that grants rights to a path.
func allow(ruleset uintptr, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, ruleset, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

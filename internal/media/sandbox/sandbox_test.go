package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// buildEvil builds the program that tries everything.
func buildEvil(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "evil")
	build := exec.Command("go", "build", "-o", path, "./testdata/evil")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// attempt is something that a hijacked program tries, with the layers that prevent it.
type attempt struct {
	try        string
	landlock   int  // from this version on; 0 means never
	seccomp    bool // whether this layer prevents it
	namespaces bool // whether this layer prevents it
	always     bool // whether every host prevents it
}

// attempts returns what to try against this process. Attempts to reach into it try all its
// threads, since the one that started the program is as restricted as the program. The descriptor
// is one that programs inherit unless that is prevented.
func attempts(t *testing.T, descriptor int) []attempt {
	t.Helper()
	dir, pid, root, users := t.TempDir(), os.Getpid(), os.Geteuid() == 0, allowsUsers(t)
	secret := filepath.Join(dir, "lipsync.db")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	threads := fmt.Sprint(pid)
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		threads += " " + task.Name()
	}
	return []attempt{
		{try: "read /etc/passwd", landlock: 1},
		{try: "read " + secret, landlock: 1},
		{try: "list " + dir, landlock: 1},
		{try: "list /", landlock: 1},
		{try: "write " + filepath.Join(dir, "new"), landlock: 1},
		{try: "write " + secret, landlock: 1},
		{try: "run /bin/sh", landlock: 1},
		{try: fmt.Sprintf("read /proc/%d/environ", pid), landlock: 1, namespaces: true, always: root},
		{try: "tcp " + answering(t, "tcp", "127.0.0.1:0"), landlock: 4, seccomp: true, namespaces: true},
		{try: "udp " + answering(t, "udp", "127.0.0.1:0"), landlock: 10, seccomp: true, namespaces: true},
		{try: "unix " + answering(t, "unix", filepath.Join(dir, "socket")), landlock: 9, seccomp: true},
		{try: "unix " + answering(t, "unix", fmt.Sprintf("@lipsync-%d-%s", pid, filepath.Base(dir))), landlock: 6, seccomp: true, namespaces: true},
		{try: fmt.Sprintf("memory %d %s", uintptr(unsafe.Pointer(&os.Args)), threads), seccomp: true, namespaces: true, always: root},
		{try: "trace " + threads, seccomp: true, namespaces: true, always: root},
		{try: "signal " + threads, seccomp: true, namespaces: true},
		{try: fmt.Sprint("limit ", pid), seccomp: true, namespaces: true},
		{try: fmt.Sprint("own fcntl ", pid), seccomp: true, namespaces: true},
		{try: fmt.Sprint("own fcntl-ex ", pid), seccomp: true, namespaces: true},
		{try: fmt.Sprint("own ioctl ", pid), seccomp: true, namespaces: true},
		{try: fmt.Sprint("own ioctl-group ", pid), seccomp: true, namespaces: true},
		{try: "choose-signal KILL", seccomp: true},
		{try: fmt.Sprint("namespace clone ", unix.CLONE_NEWUSER), seccomp: true, namespaces: !root, always: !users},
		{try: fmt.Sprint("namespace clone ", usersAndMore), seccomp: true, namespaces: !root, always: !users},
		{try: fmt.Sprint("namespace clone3 ", unix.CLONE_NEWUSER), seccomp: true, namespaces: !root, always: !users},
		{try: fmt.Sprint("namespace unshare ", unix.CLONE_NEWUSER), seccomp: true, namespaces: !root, always: !users},
		{try: fmt.Sprint("namespace setns ", unix.CLONE_NEWNET), seccomp: true},
		{try: fmt.Sprint("descriptor ", descriptor), always: true},
	}
}

// usersAndMore is the set of namespaces in which users other than root start a program.
const usersAndMore = unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC

// allowsUsers reports whether this host allows this process to create a user namespace.
func allowsUsers(t *testing.T) bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "true")
	cmd.SysProcAttr = &unix.SysProcAttr{Cloneflags: usersAndMore}
	return cmd.Run() == nil
}

// answering returns the address of a server that answers each byte.
func answering(t *testing.T, network, address string) string {
	t.Helper()
	if network == "udp" {
		c, err := net.ListenPacket(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		go func() {
			for b := make([]byte, 1); ; {
				_, from, err := c.ReadFrom(b)
				if err != nil {
					return
				}
				_, _ = c.WriteTo(b, from)
			}
		}()
		return c.LocalAddr().String()
	}
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadFull(c, make([]byte, 1))
			_, _ = c.Write([]byte("!"))
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// try has the program try everything in a sandbox. It returns the program's output and the
// attempts.
func try(t *testing.T, evil string, s Sandbox) (string, []attempt) {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), evil)
	cmd.Stderr, cmd.WaitDelay = &said, time.Second
	script, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer script.Close()
	cmd.Stdin = script
	descriptor, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(descriptor)
	wait, err := s.Start(cmd, Files{Run: []string{evil}})
	if err != nil {
		t.Fatal(err)
	}
	all := attempts(t, descriptor) // includes the thread that started the program
	for _, a := range all {
		fmt.Fprintln(w, a.try)
	}
	_ = w.Close()
	var exit *exec.ExitError
	if err := wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("the program ended with %v: %s", err, said.String())
	}
	return said.String(), all
}

// TestLayers tries everything against each layer by itself, and against all of them.
func TestLayers(t *testing.T) {
	evil, here := buildEvil(t), hostLayers(t)
	t.Logf("this host has %v", here.LogValue())
	for _, layer := range []struct {
		name string
		Sandbox
	}{
		{"landlock", Sandbox{Landlock: here.Landlock}},
		{"landlock of Linux 5.13", Sandbox{Landlock: min(1, here.Landlock)}},
		{"landlock of Linux 6.1", Sandbox{Landlock: min(2, here.Landlock)}},
		{"landlock of Linux 6.7", Sandbox{Landlock: min(4, here.Landlock)}},
		{"seccomp", Sandbox{Seccomp: here.Seccomp}},
		{"namespaces", Sandbox{Namespaces: here.Namespaces}},
		{"none", Sandbox{}},
		{"all", here},
	} {
		t.Run(layer.name, func(t *testing.T) {
			if layer.Sandbox == (Sandbox{}) && layer.name != "none" {
				t.Skip("this host doesn't have the layer, or denies it to this process")
			}
			said, all := try(t, evil, layer.Sandbox)
			for _, a := range all {
				held := a.always || layer.Seccomp && a.seccomp || layer.Namespaces && a.namespaces ||
					a.landlock > 0 && layer.Landlock >= a.landlock
				switch failed, did := strings.Contains(said, "failed "+a.try+": "), strings.Contains(said, "did "+a.try+"\n"); {
				case held && !failed:
					t.Errorf("is not held back: %s", a.try)
				case layer.name == "none" && !held && !did:
					t.Errorf("fails even without a layer, so it proves nothing: %s", a.try)
				}
			}
			t.Log(said)
		})
	}
}

// hostLayers returns the layers that a program gets on this host.
func hostLayers(t *testing.T) Sandbox {
	t.Helper()
	shell, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	return Available().Largest(func(s Sandbox) error {
		wait, err := s.Start(exec.CommandContext(t.Context(), shell), Needs(t.Context(), shell))
		if err != nil {
			return err
		}
		return wait()
	})
}

// TestHide tries to read this process when it is protected by Hide only.
func TestHide(t *testing.T) {
	evil := buildEvil(t)
	if err := Hide(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }()
	said, all := try(t, evil, Sandbox{})
	for _, a := range all {
		verb, _, _ := strings.Cut(a.try, " ")
		if verb == "memory" || verb == "trace" || strings.HasSuffix(a.try, "/environ") {
			if !strings.Contains(said, "failed "+a.try+": ") {
				t.Errorf("is not held back: %s", a.try)
			}
		}
	}
}

// TestFiles has the program read and write its files.
func TestFiles(t *testing.T) {
	evil, dir := buildEvil(t), t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, path := range []string{in, out} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), evil)
	listed := t.TempDir()
	inside := filepath.Join(listed, "inside")
	if err := os.WriteFile(inside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = strings.NewReader(fmt.Sprintf("read %s\nwrite %[1]s\nread %s\nwrite %[2]s\nread /dev/null\nread %s\nwrite %[3]s\nlist %s\nlist %s\n", in, out, inside, listed, dir))
	cmd.Stderr = &said
	wait, err := hostLayers(t).Start(cmd, Files{Run: []string{evil}, Read: []string{in, filepath.Join(dir, "missing")}, List: []string{listed}, Write: []string{out}})
	if err != nil {
		t.Fatal(err)
	}
	_ = wait()
	want := fmt.Sprintf("did read %s\nfailed write %[1]s: open %[1]s: permission denied\ndid read %s\ndid write %[2]s\ndid read /dev/null\n"+
		"did read %s\nfailed write %[3]s: open %[3]s: permission denied\ndid list %s\nfailed list %s: open %[5]s: permission denied\n", in, out, inside, listed, dir)
	if hostLayers(t).Landlock == 0 {
		t.Skip("this host has no Landlock")
	}
	if said.String() != want {
		t.Errorf("got\n%swant\n%s", said.String(), want)
	}
}

func TestString(t *testing.T) {
	for want, s := range map[string]Sandbox{
		"Landlock 7, seccomp, namespaces": {Landlock: 7, Seccomp: true, Namespaces: true},
		"seccomp":                         {Seccomp: true},
		"no layer":                        {},
	} {
		if got := fmt.Sprint(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestLargest has trials that fail with some layers.
func TestLargest(t *testing.T) {
	all := Sandbox{Landlock: 4, Seccomp: true, Namespaces: true}
	for _, test := range []struct {
		works func(Sandbox) bool
		want  Sandbox
	}{
		{func(Sandbox) bool { return true }, all},
		{func(s Sandbox) bool { return !s.Namespaces }, Sandbox{Landlock: 4, Seccomp: true}},
		{func(s Sandbox) bool { return s.Landlock == 0 }, Sandbox{Seccomp: true, Namespaces: true}},
		{func(Sandbox) bool { return false }, Sandbox{}},
	} {
		got := all.Largest(func(s Sandbox) error {
			if test.works(s) {
				return nil
			}
			return errors.New("it doesn't run")
		})
		if got != test.want {
			t.Errorf("got %+v, want %+v", got, test.want)
		}
	}
}

// TestOpenedByName finds the folder of a library that a program opens by name, with no other of its kind
// on the machine.
func TestOpenedByName(t *testing.T) {
	drivers, program := t.TempDir(), filepath.Join(t.TempDir(), "program")
	source := filepath.Join(t.TempDir(), "main.c")
	if err := os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-shared", "-o", filepath.Join(drivers, "libdriver-of-this-test.so.1"), source},
		{"-o", program, source, "-Wl,-rpath," + drivers}, // instead of the cache of the machine's loader
	} {
		if out, err := exec.CommandContext(t.Context(), "gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %q: %v: %s", args, err, out)
		}
	}
	for _, test := range []struct {
		opens []string
		want  bool
	}{
		{nil, false},
		{[]string{"libno-such-library.so.1"}, false},
		{[]string{"libno-such-library.so.1", "libdriver-of-this-test.so.1"}, true},
	} {
		got := Needs(t.Context(), program, test.opens...)
		if slices.Contains(got.Read, drivers) != test.want || !slices.Contains(got.Read, "/etc/ld.so.cache") || len(got.Run) != 2 {
			t.Errorf("opens %q: got %+v, want %s in it: %t", test.opens, got, drivers, test.want)
		}
	}
}

// TestNeeds finds what a program with libraries needs. A program without libraries needs only
// itself.
func TestNeeds(t *testing.T) {
	if got, want := Needs(t.Context(), buildEvil(t)), 1; len(got.Run) != want || len(got.Read) != 0 {
		t.Errorf("without libraries: got %+v", got)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	if got := Needs(t.Context(), shell); len(got.Run) != 2 || !strings.Contains(got.Run[1], "/ld-") || len(got.Read) < 2 {
		t.Errorf("with libraries: got %+v", got)
	}
}

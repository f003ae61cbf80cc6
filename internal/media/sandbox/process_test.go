package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestFree starts many programs. Their restrictions must not be on any remaining thread.
func TestFree(t *testing.T) {
	before, here := restricted(t), hostLayers(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), "/bin/true")
			wait, err := here.Start(cmd, Needs(t.Context(), "/bin/true"))
			if err == nil {
				err = wait()
			}
			if err != nil {
				t.Error(err)
			}
			runtime.GC() // makes the runtime start threads
		})
	}
	all.Wait()
	// A thread ends shortly after its goroutine.
	for deadline := time.Now().Add(10 * time.Second); restricted(t) > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d threads are restricted, %d before", restricted(t), before)
		}
	}
	if _, err := os.ReadFile("/etc/passwd"); err != nil {
		t.Error(err)
	}
}

// restricted returns how many threads of this process can't gain privileges.
func restricted(t *testing.T) (n int) {
	t.Helper()
	threads, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(threads) == 0 {
		t.Fatalf("%d threads (%v)", len(threads), err)
	}
	for _, thread := range threads {
		status, _ := os.ReadFile(thread)
		n += strings.Count(string(status), "NoNewPrivs:\t1")
	}
	return n
}

// TestTree starts a program that leaves another process behind. Both must end.
func TestTree(t *testing.T) {
	evil, here := buildEvil(t), hostLayers(t)
	for _, test := range []struct {
		where string
		Sandbox
	}{{"group", Sandbox{}}, {"session", Sandbox{Namespaces: here.Namespaces}}} {
		t.Run(test.where, func(t *testing.T) {
			if test.where == "session" && !here.Namespaces {
				t.Skip("this host doesn't allow namespaces to this process")
			}
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var said bytes.Buffer
			cmd := exec.CommandContext(t.Context(), evil)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("descend "+test.where+"\n"), w, &said
			wait, err := test.Start(cmd, Files{Run: []string{evil}})
			_ = w.Close()
			if err != nil {
				t.Fatal(err)
			}
			_ = wait()
			if want := "did descend " + test.where + "\n"; said.String() != want {
				t.Fatalf("got %q, want %q", said.String(), want)
			}
			wantEnd(t, r)
		})
	}
}

// wantEnd waits until no process has the other end of the pipe open. A process that was left would
// keep it open for a minute.
func wantEnd(t *testing.T, r *os.File) {
	t.Helper()
	_ = r.SetReadDeadline(time.Now().Add(20 * time.Second))
	if n, err := r.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("got %d bytes and %v, want the end", n, err)
	}
}

// orphan is the variable that makes TestParent start a program, and wait to be killed.
const orphan = "SANDBOX_TEST_EVIL"

// TestParent kills a process that has started a program. The program must end too.
func TestParent(t *testing.T) {
	if evil := os.Getenv(orphan); evil != "" {
		cmd := exec.CommandContext(t.Context(), evil, "sleep")
		cmd.Stdout = os.NewFile(3, "")
		wait, err := hostLayers(t).Start(cmd, Files{Run: []string{evil}})
		fmt.Fprintln(os.NewFile(4, ""), err)
		if err == nil {
			_ = wait()
		}
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	started, tell, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer started.Close()
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestParent$")
	parent.Env = append(os.Environ(), orphan+"="+buildEvil(t))
	parent.ExtraFiles = []*os.File{w, tell}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = w.Close(), tell.Close()
	if b := make([]byte, 100); true {
		if n, err := started.Read(b); string(b[:n]) != "<nil>\n" {
			t.Errorf("started: got %q (%v)", b[:n], err)
		}
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	wantEnd(t, r)
}

// BenchmarkStart starts a minimal program in each layer, and also from a process of 1 GiB, whose
// page tables a user namespace copies.
func BenchmarkStart(b *testing.B) {
	memory := make([]byte, 1<<30)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
	program, err := exec.LookPath("true")
	if err != nil {
		b.Fatal(err)
	}
	here, files := Available(), Needs(b.Context(), program)
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if err := exec.CommandContext(b.Context(), program).Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, layer := range []struct {
		name string
		Sandbox
	}{
		{"none", Sandbox{}}, {"landlock", Sandbox{Landlock: here.Landlock}}, {"seccomp", Sandbox{Seccomp: here.Seccomp}},
		{"namespaces", Sandbox{Namespaces: here.Namespaces}}, {"all", here},
	} {
		b.Run(layer.name, func(b *testing.B) {
			for b.Loop() {
				wait, err := layer.Start(exec.CommandContext(b.Context(), program), files)
				if err == nil {
					err = wait()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	runtime.KeepAlive(memory)
}

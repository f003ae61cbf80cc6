package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNameThread names a thread without being allowed to: what NVIDIA's driver gets is needed.
func TestNameThread(t *testing.T) {
	evil, here := buildEvil(t), hostLayers(t)
	for _, layers := range []Sandbox{{Landlock: here.Landlock}, {Namespaces: here.Namespaces}} {
		if layers == (Sandbox{}) {
			continue
		}
		var said bytes.Buffer
		cmd := exec.CommandContext(t.Context(), evil)
		cmd.Stdin, cmd.Stderr = strings.NewReader("name driver\n"), &said
		wait, err := layers.Start(cmd, Files{Run: []string{evil}})
		if err != nil {
			t.Fatal(err)
		}
		_ = wait() // fails, as the program does
		if !strings.HasPrefix(said.String(), "failed name driver: ") {
			t.Errorf("in %v: got %s", layers.LogValue(), said.String())
		}
	}
}

// TestNVIDIA has a program do in each layer what NVIDIA's driver does when it starts, and more that the
// layer must hold back. Without a layer all of it succeeds.
func TestNVIDIA(t *testing.T) {
	evil, here, dir := buildEvil(t), hostLayers(t), t.TempDir()
	root, pid := os.Geteuid() == 0, os.Getpid()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("@lipsync-%d-%s", pid, filepath.Base(dir))
	attempts := []attempt{
		{try: "name driver"},
		{try: "listen @cuda-" + filepath.Base(dir)},
		{try: "change " + secret, landlock: 1},
		{try: "change /proc/sys/kernel/domainname", namespaces: root, always: !root},
		{try: "unixpacket " + answering(t, "unixpacket", filepath.Join(dir, "socket")), landlock: 9, seccomp: true},
		{try: "unixpacket " + answering(t, "unixpacket", address), landlock: 6, seccomp: true, namespaces: true},
		{try: "unix " + answering(t, "unix", address+"-stream"), landlock: 6, seccomp: true, namespaces: true},
		{try: "tcp " + answering(t, "tcp", "127.0.0.1:0"), landlock: 4, seccomp: true, namespaces: true},
		{try: fmt.Sprintf("signal %d", pid), seccomp: true},
	}
	before, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, a := range attempts {
		script.WriteString(a.try + "\n")
	}
	for name, layers := range map[string]Sandbox{
		"landlock": {Landlock: here.Landlock}, "seccomp": {Seccomp: here.Seccomp}, "namespaces": {Namespaces: here.Namespaces}, "none": {}, "all": here,
	} {
		t.Run(name, func(t *testing.T) {
			if layers == (Sandbox{}) && name != "none" {
				t.Skip("this host doesn't have the layer, or denies it to this process")
			}
			var said bytes.Buffer
			cmd := exec.CommandContext(t.Context(), evil)
			cmd.Stdin, cmd.Stderr = strings.NewReader(script.String()), &said
			wait, err := layers.Start(cmd, Files{Run: []string{evil}, NVIDIA: true})
			if err != nil {
				t.Fatal(err)
			}
			_ = wait() // fails, as the program does
			for _, a := range attempts {
				held := a.always || layers.Seccomp && a.seccomp || layers.Namespaces && a.namespaces || a.landlock > 0 && layers.Landlock >= a.landlock
				if held != strings.Contains(said.String(), "failed "+a.try+": ") || held == strings.Contains(said.String(), "did "+a.try+"\n") {
					t.Errorf("want that it is held back: %t: %s", held, a.try)
				}
			}
			t.Log(said.String())
			if after, err := os.ReadFile("/proc/self/mounts"); err != nil || !bytes.Equal(after, before) {
				t.Errorf("the mounts of this process changed (%v) to %s", err, after)
			}
		})
	}
}

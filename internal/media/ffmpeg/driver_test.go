package ffmpeg

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/media/sandbox"
)

// withDriver is the variable that makes TestDriver use a fake driver.
const withDriver = "FFMPEG_TEST_DRIVER"

// fakeDriver does what NVIDIA's driver does when it starts, and says how that ended.
const fakeDriver = `#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

__attribute__((constructor)) static void start(void) {
	char path[64];
	snprintf(path, sizeof path, "/proc/self/task/%d/comm", gettid());
	FILE *name = fopen(path, "w");
	int made = name != NULL && fputs("cuda-EvtHandlr", name) >= 0 && fclose(name) == 0;
	struct sockaddr_un shared = {AF_UNIX, "/tmp/no-nvidia-mps/control"}, own = {AF_UNIX, "\0cuda-of-this-test"};
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	made = made && connect(s, (struct sockaddr *)&shared, sizeof shared) == -1 && errno == ENOENT;
	made = made && bind(s, (struct sockaddr *)&own, sizeof own) == 0 && listen(s, 16) == 0;
	fprintf(stderr, made ? "the driver starts\n" : "the driver fails: %m\n");
}
`

// TestDriver lets ffmpeg use a driver in the sandbox whose folder only the loader's cache names. The driver
// is a library without functions for others, so ffmpeg gets as far as to miss one. The cache is that of the
// machine in a namespace of mounts, where another file takes its place.
func TestDriver(t *testing.T) {
	if os.Getenv(withDriver) != "" {
		useDriver(t)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root makes the namespace")
	}
	dir := t.TempDir()
	config, cache, source := filepath.Join(dir, "conf"), filepath.Join(dir, "cache"), filepath.Join(dir, "driver.c")
	folder := filepath.Join(dir, "lib64")
	for path, text := range map[string]string{config: "include /etc/ld.so.conf\n" + folder + "\n", source: fakeDriver} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"gcc", "-shared", "-fPIC", "-o", filepath.Join(folder, "libcuda.so.1"), source},
		{"ldconfig", "-X", "-C", cache, "-f", config},
		{"unshare", "--mount", "sh", "-c", `mount --bind "$0" /etc/ld.so.cache && exec "$1" -test.run '^TestDriver$'`, cache, os.Args[0]},
	} {
		c := exec.CommandContext(t.Context(), command[0], command[1:]...)
		c.Env = append(os.Environ(), withDriver+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", command[0], err, out)
		}
	}
}

func useDriver(t *testing.T) {
	tools, err := Find(1)
	if err != nil {
		t.Fatal(err)
	}
	tools = tools.trial(driver(t.Context(), tools.FFmpeg), tools.Sandbox)
	for _, test := range []struct {
		files sandbox.Files
		says  string
	}{
		{tools.gpu.files, "the driver starts\n"},
		{tools.gpu.files, "Cannot load cu"}, // a function's name
		{sandbox.Files{}, "Cannot load libcuda.so.1"},
	} {
		err := tools.run(t.Context(), tools.FFmpeg, test.files, "-v", "error", "-init_hw_device", "cuda")
		if tools.Sandbox.Landlock == 0 && !test.files.NVIDIA {
			test.says = "Cannot load cu"
		}
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("with %+v: got %v, want %q", test.files, err, test.says)
		}
	}
}

// TestNVIDIA starts the driver of this machine's GPU in each layer of the sandbox and in all of them. Where
// there is no GPU, it fails.
func TestNVIDIA(t *testing.T) {
	tools, err := Find(1)
	if err != nil {
		t.Fatal(err)
	}
	_, none := os.Stat("/dev/nvidiactl")
	if err := tools.firstUse(t.Context()); (err == nil) != (none == nil) {
		t.Errorf("without the sandbox: got %v, and the device: %v", err, none)
	}
	files, all := driver(t.Context(), tools.FFmpeg), tools.Sandbox
	for _, layers := range []sandbox.Sandbox{
		{}, {Landlock: all.Landlock}, {Seccomp: all.Seccomp}, {Namespaces: all.Namespaces}, all,
	} {
		err := tools.trial(files, layers).run(t.Context(), tools.FFmpeg, files, startDriver...)
		if (err == nil) != (none == nil) {
			t.Errorf("in %v: got %v, and the device: %v", layers.LogValue(), err, none)
		}
	}
}

package awstest_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lipsync/internal/test/awstest"
)

func answers(url string) bool {
	response, err := http.Get(url + "/_ministack/health")
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func TestStop(t *testing.T) {
	awstest.Shared(t) // or skip
	e, err := awstest.Start(t.Context(), awstest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !answers(e.URL) {
		t.Error("it does not answer")
	}
	e.Stop()
	if _, err := os.Stat(filepath.Dir(e.Log)); answers(e.URL) || !os.IsNotExist(err) {
		t.Errorf("it still answers, or left its folder (%v)", err)
	}
}

func TestPortTaken(t *testing.T) {
	e := awstest.Shared(t)
	var port int
	if _, err := fmt.Sscanf(e.URL, "http://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	other, err := awstest.Start(t.Context(), awstest.Options{Port: port})
	if err == nil {
		other.Stop()
		t.Error("a second emulator started on the same port")
	}
}

// TestKill kills a process that uses an emulator. The emulator must end too.
func TestKill(t *testing.T) {
	if os.Getenv("AWSTEST_KILL") != "" {
		fmt.Println(awstest.Shared(t).URL)
		time.Sleep(time.Hour)
	}
	awstest.Shared(t) // or skip
	child := exec.Command(os.Args[0], "-test.run=^TestKill$")
	child.Env = append(os.Environ(), "AWSTEST_KILL=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(line)
	if !answers(url) {
		t.Errorf("%s does not answer", url)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	for deadline := time.Now().Add(30 * time.Second); answers(url); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the emulator outlived the process that started it")
		}
	}
}

func TestTable(t *testing.T) {
	e := awstest.Shared(t)
	if a, b := e.Table(t), e.Table(t); a == b {
		t.Errorf("got table %s twice", a)
	}
}

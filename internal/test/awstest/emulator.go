// Package awstest starts an emulator of AWS, MiniStack, for tests and for running the service on
// one machine.
package awstest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"lipsync/internal/aws/awsclient"
)

// Options says how to start an Emulator.
type Options struct {
	Port int      // 0 means any free port
	Env  []string // NAME=value, such as AUTH=true, in addition to the usual variables; Lambda functions get it too
}

// Emulator is a running emulator. It is empty at first.
type Emulator struct {
	URL string // of all services
	Log string // path of its log file

	name    string // random, to tell it from other emulators
	process *exec.Cmd
	log     *os.File
	release func() error // lets the process end
	ended   chan struct{}
}

// guard is a script that runs the emulator until standard input ends, which happens no matter how
// this process ends. Then it ends the whole process group, with Lambda functions, after at most
// 10 s, and deletes the emulator's files.
const guard = `
exec 3<&0
"$0" </dev/null &
emulator=$!
{ cat <&3 >/dev/null; kill $emulator; sleep 10; kill -KILL $emulator; } &
wait $emulator
trap '' TERM
kill -TERM 0
wait
rm -rf "$TMPDIR"
kill -KILL 0`

// ports is the number of free ports that are tried.
const ports = 5

// Start starts an emulator, and returns once it answers. If no port was given and another process
// takes the chosen one first, it tries another.
func Start(ctx context.Context, o Options) (*Emulator, error) {
	return o.start(ctx, free)
}

func (o Options) start(ctx context.Context, choose func(ctx context.Context, port int) (int, error)) (*Emulator, error) {
	program, err := find()
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		port, err := choose(ctx, o.Port)
		if err != nil {
			return nil, err
		}
		e, err := launch(ctx, program, port, o.Env)
		if !errors.Is(err, syscall.EADDRINUSE) || o.Port != 0 || n == ports {
			return e, err
		}
	}
}

// launch starts an emulator on a port. The error is EADDRINUSE if another process has the port.
func launch(ctx context.Context, program string, port int, env []string) (*Emulator, error) {
	dir, err := os.MkdirTemp("", "lipsync-aws-")
	if err != nil {
		return nil, err
	}
	e := &Emulator{
		URL: fmt.Sprintf("http://127.0.0.1:%d", port), Log: filepath.Join(dir, "log"), name: rand.Text(),
		process: exec.Command("/bin/sh", "-c", guard, program), ended: make(chan struct{}),
	}
	e.process.Dir = dir
	e.process.Env = append(e.environment(port), env...)
	// It gets its own process group, so that an interrupt from the terminal reaches only this
	// process.
	e.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := e.start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := e.await(ctx); err != nil {
		said := e.stop()
		if bytes.Contains(said, []byte("already in use")) {
			err = syscall.EADDRINUSE
		}
		return nil, fmt.Errorf("start the emulator: %w\n%s", err, said)
	}
	return e, nil
}

// environment returns all the variables that the emulator and its Lambda functions see.
func (e *Emulator) environment(port int) []string {
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + e.process.Dir, "TMPDIR=" + e.process.Dir,
		"BIND_HOST=127.0.0.1", "GATEWAY_PORT=" + strconv.Itoa(port),
		"MINISTACK_HOST=127.0.0.1", "MINISTACK_REGION=" + region, "MINISTACK_EDITION=" + e.name,
		"AWS_ENDPOINT_URL=" + e.URL, "AWS_EC2_METADATA_DISABLED=true",
		"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey,
		"IOT_MTLS_ENABLED=0", "SFTP_ENABLED=0",
	}
}

func (e *Emulator) start() error {
	var err error
	if e.log, err = os.Create(e.Log); err != nil {
		return err
	}
	e.process.Stdout, e.process.Stderr = e.log, e.log
	stdin, err := e.process.StdinPipe()
	if err != nil {
		return err
	}
	if err := e.process.Start(); err != nil {
		return err
	}
	e.release = stdin.Close
	go func() {
		defer close(e.ended)
		_ = e.process.Wait() // it was told to end, or await returns why it ended
	}()
	return nil
}

// startTime bounds the wait for an emulator that is running but does not answer yet. On a busy
// machine, Python may need minutes to start.
const startTime = 5 * time.Minute

// await waits until the emulator answers.
func (e *Emulator) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		switch name, err := e.ask(ctx); {
		case err == nil && name == e.name:
			return nil
		case err == nil: // another process has the port, while the emulator is still starting
			return syscall.EADDRINUSE
		}
		select {
		case <-e.ended:
			return errors.New("the emulator ended at once")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// ask returns the name of the emulator that answers, or "" if another program does.
func (e *Emulator) ask(ctx context.Context) (name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second) // some programs listen but never answer
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL+"/_ministack/health", nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var health struct{ Edition string }
	_ = json.NewDecoder(response.Body).Decode(&health) // any other answer is not from an emulator
	return health.Edition, nil
}

// Stop ends the emulator and all processes that it runs, and deletes its files.
func (e *Emulator) Stop() {
	e.stop()
}

// stop does what Stop does, and returns the emulator's output.
func (e *Emulator) stop() []byte {
	defer e.log.Close()
	_ = e.release() // fails only if the process has ended already
	<-e.ended
	text, _ := io.ReadAll(io.NewSectionReader(e.log, 0, math.MaxInt64)) // as much as can be read
	return text
}

const (
	region    = "us-east-1"
	accessKey = "test" // the emulator's root account
	secretKey = "test"
)

// Config returns the configuration for clients of the emulator.
func (e *Emulator) Config() aws.Config { return Config(e.URL) }

// Config returns the configuration for clients of any emulator, at the URL.
func Config(url string) aws.Config {
	cfg := aws.Config{
		Region:       region,
		BaseEndpoint: &url,
		Credentials:  credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
		// the same as in config.LoadDefaultConfig
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	}
	awsclient.KeepAnswers(&cfg)
	return cfg
}

// find returns the path of the emulator's program, which make installs in the repository.
func find() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			program := filepath.Join(dir, ".cache", "venv", "bin", "ministack")
			_, err := os.Stat(program)
			return program, err
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod in this folder or above it")
		}
	}
}

// free returns the port if nobody listens there, or any free port for 0.
func free(ctx context.Context, port int) (int, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

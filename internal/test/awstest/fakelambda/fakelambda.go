// Package fakelambda implements the part of AWS Lambda that runs a function of an image: the call that invokes it without waiting, and the
// runtime's API, from which the function's program gets its event. Emulators run no images here. Each call has a process of its own.
package fakelambda

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// Options are the settings of the function.
type Options struct {
	Command []string
	Env     func() ([]string, error) // NAME=value; a process sees only these and the address of the runtime's API
	Address string                   // at which processes reach the Fake
	Timeout time.Duration            // of a call
	Log     *os.File                 // output of all processes; nil discards it
}

// Fake is the http.Handler of both APIs. It is safe for concurrent use.
type Fake struct {
	options Options
	paths   http.ServeMux

	mu     sync.Mutex
	calls  map[string]*call
	failed int
	closed bool
	all    sync.WaitGroup
}

// call is a call of the function.
type call struct {
	event   []byte
	end     time.Time
	process *exec.Cmd
	given   bool // the process got the event
}

// New returns a Fake without calls.
func New(o Options) *Fake {
	f := &Fake{options: o, calls: make(map[string]*call)}
	f.paths.HandleFunc("POST /2015-03-31/functions/{function}/invocations", f.invoke)
	f.paths.HandleFunc("GET /call/{id}/2018-06-01/runtime/invocation/next", f.next)
	f.paths.HandleFunc("POST /call/{id}/2018-06-01/runtime/invocation/{same}/response", func(w http.ResponseWriter, r *http.Request) { f.end(w, r, false) })
	f.paths.HandleFunc("POST /call/{id}/2018-06-01/runtime/invocation/{same}/error", func(w http.ResponseWriter, r *http.Request) { f.end(w, r, true) })
	return f
}

func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.paths.ServeHTTP(w, r) }

// Counts returns the number of calls that run, and of those that failed.
func (f *Fake) Counts() (running, failed int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls), f.failed
}

// Close kills all processes.
func (f *Fake) Close() {
	f.mu.Lock()
	f.closed = true
	for _, c := range f.calls {
		_ = c.process.Process.Kill() // it may have ended
	}
	f.mu.Unlock()
	f.all.Wait()
}

// invoke starts a process for an event.
func (f *Fake) invoke(w http.ResponseWriter, r *http.Request) {
	event, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err == nil && r.Header.Get("X-Amz-Invocation-Type") != "Event" {
		err = errors.New("only calls of the type Event are supported")
	}
	if err == nil {
		err = f.start(event)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (f *Fake) start(event []byte) error {
	env, err := f.options.Env()
	if err != nil {
		return err
	}
	id := uuid.NewString()
	p := exec.Command(f.options.Command[0], f.options.Command[1:]...)
	p.Env = append(env, "AWS_LAMBDA_RUNTIME_API="+f.options.Address+"/call/"+id)
	p.Stdout, p.Stderr = f.options.Log, f.options.Log
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errors.New("closed")
	}
	if err := p.Start(); err != nil {
		return err
	}
	f.calls[id] = &call{event: event, end: time.Now().Add(f.options.Timeout), process: p}
	f.all.Go(func() {
		_ = p.Wait() // it is killed
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.calls[id] != nil {
			f.failed++
		}
		delete(f.calls, id)
	})
	return nil
}

// next gives a process its event, and none afterwards: the process is frozen.
func (f *Fake) next(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	c := f.calls[r.PathValue("id")]
	if c == nil || c.given {
		f.mu.Unlock()
		<-r.Context().Done()
		return
	}
	c.given = true
	f.mu.Unlock()
	w.Header().Set("Lambda-Runtime-Aws-Request-Id", r.PathValue("id"))
	w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(c.end.UnixMilli(), 10))
	w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:000000000000:function:small")
	_, _ = w.Write(c.event) // the process may be gone
}

// end ends a call, and its process with those that it has started.
func (f *Fake) end(w http.ResponseWriter, r *http.Request, failed bool) {
	text, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20)) // only for the log
	id := r.PathValue("id")
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.calls[id]
	if c == nil {
		http.Error(w, "no such call", http.StatusNotFound)
		return
	}
	if failed {
		f.failed++
		fmt.Fprintf(f.options.Log, "a call failed: %s\n", text)
	}
	delete(f.calls, id)
	w.WriteHeader(http.StatusAccepted)
	time.AfterFunc(100*time.Millisecond, func() { _ = syscall.Kill(-c.process.Process.Pid, syscall.SIGKILL) }) // once it has the answer
}

// Command guard runs the tests on AWS, and removes their stack however they end: by failures, by a panic, by their time-out or by Ctrl-C. It is a process of
// its own, because a test that is killed cleans nothing up. With -clean, it removes the stacks of earlier runs instead.
//
// usage: guard [-gpu NETWORK] [-clean] CDK
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// prefix begins the names of the tests' stacks.
const prefix = "LipsyncSmoke-"

func main() {
	gpu, clean := flag.String("gpu", "", "a network of wav2lip, to also test a GPU with"), flag.Bool("clean", false, "only remove the stacks of earlier runs")
	flag.Parse()
	if err := run(*gpu, *clean, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "aws-smoke:", err)
		os.Exit(1)
	}
}

func run(gpu string, clean bool, cdk string) error {
	ctx := context.Background()
	configured, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	who, err := identity(ctx, configured)
	if errors.Is(err, errNobody) && !clean {
		fmt.Println(err)
		return tests(gpu, "-run", "^TestPlan$", "./infra/smoke").Run()
	}
	if err != nil {
		return err
	}
	fmt.Printf("You are %s, in %s.\n", who, configured.Region)
	r := remover{configured, os.Stdout, 10 * time.Second}
	if clean {
		return r.all(ctx, prefix)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	name := prefix + strings.ToLower(rand.Text()[:8])
	err = guarded(tests(gpu, "-timeout", "4h", "-run", "^(TestPlan|TestAWS)$", "./infra/smoke", "-args", "-cdk", cdk, "-name", name), signals)
	fmt.Println("Removing the stack", name, "- make aws-smoke-clean does that too, if this is cut off.")
	began := time.Now()
	err = errors.Join(err, r.stack(ctx, name))
	fmt.Println("remove took", time.Since(began).Round(time.Second))
	return err
}

// errNobody is the error of identity if there are no credentials at all.
var errNobody = errors.New("there are no credentials of AWS")

// identity returns the ARN of the caller. Credentials may be of any kind that AWS's SDK knows.
func identity(ctx context.Context, configured aws.Config) (arn string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if configured.Region == "" {
		return "", fmt.Errorf("%w, or no region: set AWS_REGION, or one in the profile", errNobody)
	}
	if configured.Credentials == nil {
		return "", errNobody
	}
	if _, err := configured.Credentials.Retrieve(ctx); err != nil {
		return "", fmt.Errorf("%w: %w", errNobody, err)
	}
	who, err := sts.NewFromConfig(configured).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", fmt.Errorf("AWS doesn't take the credentials: %w", err)
	}
	return aws.ToString(who.Arn), nil
}

// tests returns the command that runs the tests of package smoke.
func tests(gpu string, arguments ...string) *exec.Cmd {
	c := exec.Command("go", append([]string{"test", "-count", "1", "-v"}, arguments...)...)
	if gpu != "" {
		if arguments[len(arguments)-1] == "./infra/smoke" {
			c.Args = append(c.Args, "-args")
		}
		c.Args = append(c.Args, "-gpu", gpu)
	}
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c
}

// patience is the time in which the tests end after a signal.
const patience = 20 * time.Second

// guarded runs the command, and returns when it has ended. It passes signals on, and kills a command that goes on after one.
func guarded(c *exec.Cmd, signals <-chan os.Signal) error {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that all that it started ends too
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		return err
	case s := <-signals:
		_ = syscall.Kill(-c.Process.Pid, s.(syscall.Signal)) // it may have ended just now
		select {
		case <-ended:
		case <-signals:
		case <-time.After(patience):
		}
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		return fmt.Errorf("ended by the signal %s", s)
	}
}

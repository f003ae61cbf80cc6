// Command infra synthesises the stack of the service on AWS. The cdk command runs it
// in this folder: see cdk.json and README.md.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"lipsync/infra/stack"
)

func main() { os.Exit(run()) }

// run does the whole work, ends the Node.js process that jsii started, and returns the exit status.
func run() int {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	settings, err := stack.ReadSettings(app)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stack.New(app, settings)
	app.Synth(nil)
	return 0
}

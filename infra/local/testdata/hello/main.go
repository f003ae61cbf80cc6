// Command hello is a minimal function of Lambda. Tests compare the times of other functions with
// its times.
package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	lambda.Start(func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		fmt.Println("hello") // the emulator waits for a line of the log
		return events.APIGatewayProxyResponse{StatusCode: 200, Body: "hello world"}, nil
	})
}

package main

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/http/agents"
	"lipsync/internal/http/client"
)

type mcpCommand struct{ callFlags }

// Run serves tools for an assistant that has started this program. Each tool calls the service.
func (c *mcpCommand) Run(ctx context.Context, _ streams) error {
	caller, err := c.client(nil)
	if err != nil {
		return err
	}
	caller.Retry = client.Retry{} // an assistant calls again itself, and gives up on a call that takes long
	return agents.Serve(ctx, agents.Options{
		Client: func(http.Header) *client.Client { return caller }, Files: true, Sleep: client.Pause, NewID: uuid.NewString, Now: time.Now,
	})
}

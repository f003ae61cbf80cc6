package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"lipsync/internal/http/rest"
)

// healthTime bounds the wait for a server's answer.
const healthTime = 5 * time.Second

type healthCommand struct{ Addr string }

// Run asks the server that listens on the address.
func (c *healthCommand) Run(ctx context.Context) error {
	address, err := net.ResolveTCPAddr("tcp", c.Addr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+reachable(address)+rest.Base+rest.HealthPath, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", answer.Status)
	}
	return nil
}

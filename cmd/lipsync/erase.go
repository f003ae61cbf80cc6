package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

type eraseCommand struct {
	callFlags
	IDs  []string `arg:"" optional:"" name:"ID" help:"Requests, analyses or estimates, by their ids, or requests by their reference ids."`
	All  bool     `help:"Erase all that is finished of the key's account."`
	JSON bool     `help:"Print the number as JSON."`
}

// Validate checks the options; kong calls it.
func (c *eraseCommand) Validate() error {
	if c.All == (len(c.IDs) > 0) {
		return errors.New("name requests, or give --all for those of the whole account")
	}
	return nil
}

// Run erases requests by a service.
func (c *eraseCommand) Run(ctx context.Context, s streams) error {
	caller, err := c.client(nil)
	if err != nil {
		return err
	}
	erased := 0
	if c.All {
		erased, err = caller.EraseAll(ctx)
	}
	for _, id := range c.IDs {
		if err = caller.Erase(ctx, id); err != nil {
			err = fmt.Errorf("%s: %w", id, err)
			break
		}
		erased++
	}
	if c.JSON {
		return errors.Join(err, json.NewEncoder(s.Out).Encode(map[string]int{"erased": erased}))
	}
	fmt.Fprintf(s.Err, "erased: %d\n", erased)
	return err
}

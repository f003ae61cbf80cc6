// Package posts lets a program on AWS call webhooks.
package posts

import (
	"lipsync/internal/aws/cloud"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/fetch"
	"lipsync/internal/http/rest"
)

// Client adds the client that calls webhooks, and the bodies of its calls. The URLs of outputs are
// absolute on AWS.
func Client(d *cloud.Deployment) {
	d.Ports.Poster = fetch.New(fetch.Options{
		AllowPrivate: settings.AllowPrivateNetworks.In(d.Settings), Total: lipsync.PostTime, Stall: lipsync.PostTime,
	})
	d.Ports.EventBody = rest.EventBody(nil)
}

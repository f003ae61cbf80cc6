// Package bus lets a program on AWS put events on the operator's bus of EventBridge. Only programs that import it link the SDK's
// client of EventBridge.
package bus

import (
	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/eventbridge"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/rest"
)

// Events adds the bus, and the bodies of the events there.
func Events(d *cloud.Deployment) {
	d.Ports.Bus = eventbridge.New(d.Config, settings.EventBus.In(d.Settings))
	d.Ports.EventBody = rest.BusEventBody
}

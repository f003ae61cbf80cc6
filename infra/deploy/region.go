package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lipsync/infra/account"
	"lipsync/infra/stack"

	"lipsync/internal/domain/settings"
)

// checkRegion refuses settings that the region or the account can't support. If the settings name
// no instance types, it returns those of the defaults that the region offers, separated by commas;
// otherwise "".
func (d *deployment) checkRegion(ctx context.Context, s stack.Settings) (types string, err error) {
	wanted := settings.InstanceTypes.In(s.Values)
	offered, err := d.account.Offered(ctx, wanted)
	if err != nil {
		return "", err
	}
	_, named := d.given[settings.InstanceTypes.Context()]
	if len(offered) == 0 || named && len(offered) < len(wanted) {
		missing := slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return slices.Contains(offered, name) })
		return "", fmt.Errorf("%s has no instances of the types %s: name others in %s",
			d.account.Config.Region, strings.Join(missing, ", "), settings.InstanceTypes.Context())
	}
	zones, err := d.account.Zones(ctx)
	if err != nil {
		return "", err
	}
	if n := settings.Zones.In(s.Values); len(zones) < n {
		return "", fmt.Errorf("%s is %d, but in %s the account has only %s", settings.Zones.Context(), n, d.account.Config.Region, strings.Join(zones, ", "))
	}
	if err := d.checkBus(ctx, settings.EventBus.In(s.Values)); err != nil {
		return "", fmt.Errorf("%s: %w", settings.EventBus.Context(), err)
	}
	if err := d.checkQuotas(ctx, s); err != nil {
		return "", err
	}
	if named {
		return "", nil
	}
	return strings.Join(offered, ","), nil
}

// checkBus refuses a bus that the function can't put events on: one of another region, or a name that the account doesn't have. A bus with an ARN may be
// another account's, so it isn't looked for.
func (d *deployment) checkBus(ctx context.Context, bus string) error {
	const region = 3 // arn:partition:service:region:account:resource
	if bus == "" {
		return nil
	}
	if !strings.HasPrefix(bus, "arn:") {
		return d.account.FindBus(ctx, bus)
	}
	if of := strings.Split(bus, ":")[region]; of != d.account.Config.Region {
		return fmt.Errorf("the bus is in %s, and the stack in %s", of, d.account.Config.Region)
	}
	return nil
}

// checkQuotas refuses a deployment in which no job could ever run, and prints which quotas are
// lower than the settings.
func (d *deployment) checkQuotas(ctx context.Context, s stack.Settings) error {
	spot, onDemand := account.StandardSpot, account.StandardOnDemand
	if settings.Image.In(s.Values) == "cuda" {
		spot, onDemand = account.GPUSpot, account.GPUOnDemand
	}
	room := false
	for _, of := range []struct {
		vCPUs *settings.Setting[int]
		quota account.Quota
	}{{settings.SpotVCPUs, spot}, {settings.OnDemandVCPUs, onDemand}} {
		wanted := of.vCPUs.In(s.Values)
		if wanted == 0 {
			continue
		}
		has, err := d.account.VCPUs(ctx, of.quota)
		if err != nil {
			return err
		}
		if has < float64(wanted) {
			fmt.Fprintf(d.out, "%s is %d, but the account's quota %s of EC2 is %g vCPUs.\n", of.vCPUs.Context(), wanted, of.quota, has)
		}
		room = room || has >= stack.JobVCPUs
	}
	if !room {
		return fmt.Errorf("no job could run: one takes %d vCPUs. Ask for more under Service Quotas, Amazon EC2", stack.JobVCPUs)
	}
	return nil
}

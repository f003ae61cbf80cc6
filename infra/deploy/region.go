package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lipsync/infra/account"
	"lipsync/infra/stack"
)

// look refuses settings that the region or the account can't serve. If no types of
// instances are named, it returns those of the usual ones that the region has, with
// commas between, else "".
func (d *deployment) look(ctx context.Context, s stack.Settings) (types string, err error) {
	offered, err := d.account.Offered(ctx, s.InstanceTypes)
	if err != nil {
		return "", err
	}
	_, named := d.given["lipsync:instanceTypes"]
	if len(offered) == 0 || named && len(offered) < len(s.InstanceTypes) {
		missing := slices.DeleteFunc(slices.Clone(s.InstanceTypes), func(name string) bool { return slices.Contains(offered, name) })
		return "", fmt.Errorf("%s has no instances of the types %s: name others in lipsync:instanceTypes",
			d.account.Config.Region, strings.Join(missing, ", "))
	}
	zones, err := d.account.Zones(ctx)
	if err != nil {
		return "", err
	}
	if len(zones) < s.Zones {
		return "", fmt.Errorf("lipsync:zones is %d, but in %s the account has only %s", s.Zones, d.account.Config.Region, strings.Join(zones, ", "))
	}
	if err := d.lookAtQuotas(ctx, s); err != nil {
		return "", err
	}
	if named {
		return "", nil
	}
	return strings.Join(offered, ","), nil
}

// lookAtQuotas refuses a deployment where no job could ever run, and says what is less than
// the settings want.
func (d *deployment) lookAtQuotas(ctx context.Context, s stack.Settings) error {
	spot, onDemand := account.StandardSpot, account.StandardOnDemand
	if s.Image == "cuda" {
		spot, onDemand = account.GPUSpot, account.GPUOnDemand
	}
	room := false
	for _, of := range []struct {
		setting string
		wanted  int
		quota   account.Quota
	}{{"spotVcpus", s.SpotVCPUs, spot}, {"onDemandVcpus", s.OnDemandVCPUs, onDemand}} {
		if of.wanted == 0 {
			continue
		}
		has, err := d.account.VCPUs(ctx, of.quota)
		if err != nil {
			return err
		}
		if has < float64(of.wanted) {
			fmt.Fprintf(d.out, "lipsync:%s is %d, but the account's quota %s of EC2 is %g vCPUs.\n", of.setting, of.wanted, of.quota, has)
		}
		room = room || has >= stack.JobVCPUs
	}
	if !room {
		return fmt.Errorf("no job could run: one takes %d vCPUs. Ask for more under Service Quotas, Amazon EC2", stack.JobVCPUs)
	}
	return nil
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lipsync/infra/account"
	"lipsync/infra/stack"
	"lipsync/infra/stack/alarms"

	"lipsync/internal/domain/settings"
)

// checkRegion refuses settings that the region or the account can't support.
func (d *deployment) checkRegion(ctx context.Context, s stack.Settings) error {
	if err := d.checkBus(ctx, settings.EventBus.In(s.Values)); err != nil {
		return fmt.Errorf("%s: %w", settings.EventBus.Context(), err)
	}
	if region := d.account.Config.Region; settings.HealthCheck.In(s.Values) && region != alarms.HealthRegion {
		return fmt.Errorf("%s: Route 53 tells alarms of its checks only in %s, and the stack is in %s", settings.HealthCheck.Context(), alarms.HealthRegion, region)
	}
	if err := d.checkRate(ctx, settings.RequestRate.In(s.Values)); err != nil {
		return err
	}
	return d.checkQuotas(ctx, s)
}

// choose decides the settings for which the region's or the account's state is the best value, unless the operator has named them. It returns them as arguments
// of cdk, and adds them to the given ones, as if an operator had named them.
func (d *deployment) choose(ctx context.Context, s stack.Settings, deployed map[string]string, exists bool) (arguments []string, err error) {
	types := map[settings.Entry][]string{}
	for _, of := range s.Fleets() {
		if types[of.Types], err = d.types(ctx, s, of.Types); err != nil {
			return nil, err
		}
	}
	zones, err := d.zones(ctx, s, types, deployed, exists)
	if err != nil {
		return nil, err
	}
	calls, err := d.account.FunctionCalls(ctx)
	if err != nil {
		return nil, err
	}
	if calls < fewCalls {
		fmt.Fprintf(d.out, "Lambda runs %d calls of the account's functions at a time, and API Gateway answers further ones with 500. Ask for more under Service Quotas, AWS Lambda.\n", calls)
	}
	for _, of := range []struct {
		setting settings.Entry
		value   string
	}{{settings.InstanceTypes, strings.Join(types[settings.InstanceTypes], ",")}, {settings.GPUInstanceTypes, strings.Join(types[settings.GPUInstanceTypes], ",")}, {settings.ZoneNames, strings.Join(zones, ",")}, {settings.LambdaQuota, strconv.Itoa(calls)}} {
		key := of.setting.Line().Context()
		if _, named := d.given[key]; !named && of.value != "" {
			d.given[key] = of.value
			arguments = append(arguments, "-c", key+"="+of.value)
		}
	}
	return arguments, nil
}

// fewCalls is a number of calls of functions at a time that some busy clients use up.
const fewCalls = 50

// types returns those of the instance types in the setting that the region offers. All that an operator names must be there.
func (d *deployment) types(ctx context.Context, s stack.Settings, of *settings.Setting[[]string]) ([]string, error) {
	wanted := of.In(s.Values)
	offered, err := d.account.Offered(ctx, wanted)
	if err != nil {
		return nil, err
	}
	_, named := d.given[of.Context()]
	if len(offered) == 0 || named && len(offered) < len(wanted) {
		missing := slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return slices.Contains(offered, name) })
		return nil, fmt.Errorf("%s has no instances of the types %s: name others in %s",
			d.account.Config.Region, strings.Join(missing, ", "), of.Context())
	}
	return offered, nil
}

// zones returns the names of the availability zones: those that the operator names, or those of the deployed stack, since the zone of a subnet can't
// change, and then those that offer the most of the fleets' instance types, of the last fleet first: fewer zones have GPUs. It returns none if the deployed
// stack names none. It refuses zones of which none offers any type of a fleet.
func (d *deployment) zones(ctx context.Context, s stack.Settings, types map[settings.Entry][]string, deployed map[string]string, exists bool) ([]string, error) {
	n := settings.Zones.In(s.Values)
	all, err := d.account.Zones(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) < n {
		return nil, fmt.Errorf("%s is %d, but in %s the account has only %s", settings.Zones.Context(), n, d.account.Config.Region, strings.Join(all, ", "))
	}
	chosen := settings.ZoneNames.In(s.Values) // as many as wanted, or none
	if names := deployed[settings.ZoneNames.Context()]; len(chosen) == 0 && exists {
		if names == "" {
			return nil, nil
		}
		chosen = strings.Split(names, ",")
	}
	fleets := s.Fleets()
	offers, err := d.account.TypesByZone(ctx, slices.Concat(slices.Collect(maps.Values(types))...))
	if err != nil {
		return nil, err
	}
	offered := func(f *stack.Fleet, zone string) (n int) {
		for _, name := range offers[zone] {
			if slices.Contains(types[f.Types], name) {
				n++
			}
		}
		return n
	}
	all = slices.DeleteFunc(all, func(zone string) bool { return slices.Contains(chosen, zone) })
	slices.SortFunc(all, func(a, b string) (order int) {
		for _, f := range slices.Backward(fleets) {
			order = cmp.Or(order, offered(f, b)-offered(f, a))
		}
		return cmp.Or(order, strings.Compare(a, b))
	})
	chosen = append(chosen, all...)[:n]
	for _, f := range fleets {
		if !slices.ContainsFunc(chosen, func(zone string) bool { return offered(f, zone) > 0 }) {
			return nil, fmt.Errorf("the zones %s have no instances of the types %s: name others in %s, or zones in %s",
				strings.Join(chosen, ", "), strings.Join(types[f.Types], ", "), f.Types.Context(), settings.ZoneNames.Context())
		}
	}
	return chosen, nil
}

// checkRate prints that API Gateway allows fewer calls than the settings.
func (d *deployment) checkRate(ctx context.Context, wanted int) error {
	rate, burst, err := d.account.APICalls(ctx)
	if err == nil && rate > 0 && (rate < float64(wanted) || burst < 2*float64(wanted)) {
		fmt.Fprintf(d.out, "%s is %d, and twice that in a burst, but API Gateway allows all APIs of the account in %s %g calls a second, and %g in a burst.\n",
			settings.RequestRate.Context(), wanted, d.account.Config.Region, rate, burst)
	}
	return err
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

// checkQuotas refuses a deployment in which a job queue could never run a job, and prints which quotas are
// lower than the settings.
func (d *deployment) checkQuotas(ctx context.Context, s stack.Settings) error {
	for _, f := range s.Fleets() {
		if err := d.checkQuota(ctx, s, f); err != nil {
			return err
		}
	}
	return nil
}

func (d *deployment) checkQuota(ctx context.Context, s stack.Settings, f *stack.Fleet) error {
	spot, onDemand := account.StandardSpot, account.StandardOnDemand
	if f.GPU {
		spot, onDemand = account.GPUSpot, account.GPUOnDemand
	}
	room := false
	for _, of := range []struct {
		vCPUs *settings.Setting[int]
		quota account.Quota
	}{{f.Spot, spot}, {f.OnDemand, onDemand}} {
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
		return fmt.Errorf("no job could run on %s: one takes %d vCPUs. Ask for more under Service Quotas, Amazon EC2", f.Types.Context(), stack.JobVCPUs)
	}
	return nil
}

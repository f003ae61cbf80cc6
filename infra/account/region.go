package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const ec2Version = "2016-11-15"

// Offered returns which of the instance types the region offers.
func (a *Account) Offered(ctx context.Context, types []string) ([]string, error) {
	parameters := url.Values{"LocationType": {"region"}, "Filter.1.Name": {"instance-type"}}
	for i, name := range types {
		parameters.Set(fmt.Sprint("Filter.1.Value.", i+1), name)
	}
	var answer struct {
		Types []string `xml:"instanceTypeOfferingSet>item>instanceType"`
	}
	if err := a.query(ctx, "ec2", ec2Version, "DescribeInstanceTypeOfferings", parameters, &answer); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(types), func(name string) bool { return !slices.Contains(answer.Types, name) }), nil
}

// TypesByZone returns which of the instance types each availability zone offers.
func (a *Account) TypesByZone(ctx context.Context, types []string) (map[string][]string, error) {
	parameters := url.Values{"LocationType": {"availability-zone"}, "Filter.1.Name": {"instance-type"}}
	for i, name := range types {
		parameters.Set(fmt.Sprint("Filter.1.Value.", i+1), name)
	}
	var answer struct {
		Offers []struct {
			Type string `xml:"instanceType"`
			Zone string `xml:"location"`
		} `xml:"instanceTypeOfferingSet>item"`
	}
	err := a.query(ctx, "ec2", ec2Version, "DescribeInstanceTypeOfferings", parameters, &answer)
	all := map[string][]string{}
	for _, o := range answer.Offers {
		all[o.Zone] = append(all[o.Zone], o.Type)
	}
	return all, err
}

// Zones returns the names of the availability zones that the account may use.
func (a *Account) Zones(ctx context.Context) ([]string, error) {
	var answer struct {
		Zones []string `xml:"availabilityZoneInfo>item>zoneName"`
	}
	err := a.query(ctx, "ec2", ec2Version, "DescribeAvailabilityZones", url.Values{
		"Filter.1.Name": {"zone-type"}, "Filter.1.Value.1": {"availability-zone"},
		"Filter.2.Name": {"state"}, "Filter.2.Value.1": {"available"},
	}, &answer)
	return answer.Zones, err
}

// Quota is a limit on concurrent vCPUs.
type Quota string

// These are quotas of EC2, by their codes.
const (
	StandardSpot     Quota = "L-34B43A08"
	StandardOnDemand Quota = "L-1216C47A"
	GPUSpot          Quota = "L-3819A6DF" // of the families G and VT
	GPUOnDemand      Quota = "L-DB2E81BA"
)

// VCPUs returns the number of vCPUs that a quota allows. An account for which AWS has no value of its own has the default.
func (a *Account) VCPUs(ctx context.Context, q Quota) (vCPUs float64, err error) {
	for _, action := range []string{"GetServiceQuota", "GetAWSDefaultServiceQuota"} {
		var answer struct{ Quota struct{ Value float64 } }
		err = a.json(ctx, "servicequotas", http.MethodPost, "/", http.Header{
			"Content-Type": {"application/x-amz-json-1.1"}, "X-Amz-Target": {"ServiceQuotasV20190624." + action},
		}, map[string]string{"ServiceCode": "ec2", "QuotaCode": string(q)}, &answer)
		if e, ok := errors.AsType[*Error](err); !ok || !strings.HasSuffix(e.Code, "NoSuchResourceException") {
			return answer.Quota.Value, err
		}
	}
	return 0, err
}

// FunctionCalls returns how many calls of all functions Lambda allows at a time.
func (a *Account) FunctionCalls(ctx context.Context) (int, error) {
	var answer struct {
		AccountLimit struct{ ConcurrentExecutions int }
	}
	err := a.json(ctx, "lambda", http.MethodGet, "/2016-08-19/account-settings", nil, nil, &answer)
	return answer.AccountLimit.ConcurrentExecutions, err
}

// APICalls returns how many calls a second of all APIs together API Gateway allows, and how many at once in a burst.
func (a *Account) APICalls(ctx context.Context) (rate, burst float64, err error) {
	var answer struct {
		Throttle struct {
			Rate  float64 `json:"rateLimit"`
			Burst float64 `json:"burstLimit"`
		} `json:"throttleSettings"`
	}
	err = a.json(ctx, "apigateway", http.MethodGet, "/account", nil, nil, &answer)
	return answer.Throttle.Rate, answer.Throttle.Burst, err
}

// FindBus returns an error if the region has no bus of EventBridge with the name. PutEvents takes events for a bus that isn't there, and loses them.
func (a *Account) FindBus(ctx context.Context, name string) error {
	var answer struct{ Name string }
	return a.json(ctx, "events", http.MethodPost, "/", http.Header{
		"Content-Type": {"application/x-amz-json-1.1"}, "X-Amz-Target": {"AWSEvents.DescribeEventBus"},
	}, map[string]string{"Name": name}, &answer)
}

// Instance is an instance that runs.
type Instance struct {
	ID    string `xml:"instanceId"`
	Image string `xml:"imageId"` // that it started from
}

// Instances returns the instances of a security group that run.
func (a *Account) Instances(ctx context.Context, group string) ([]Instance, error) {
	var answer struct {
		Instances []Instance `xml:"reservationSet>item>instancesSet>item"`
	}
	err := a.query(ctx, "ec2", ec2Version, "DescribeInstances", url.Values{
		"Filter.1.Name": {"instance.group-id"}, "Filter.1.Value.1": {group},
		"Filter.2.Name": {"instance-state-name"}, "Filter.2.Value.1": {"running"},
	}, &answer)
	return answer.Instances, err
}

// Terminate terminates instances, as AWS does when it reclaims Spot instances.
func (a *Account) Terminate(ctx context.Context, instances []Instance) error {
	parameters := url.Values{}
	for i, one := range instances {
		parameters.Set(fmt.Sprint("InstanceId.", i+1), one.ID)
	}
	return a.query(ctx, "ec2", ec2Version, "TerminateInstances", parameters, nil)
}

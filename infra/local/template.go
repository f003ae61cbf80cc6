package main

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"lipsync/internal/domain/settings"
)

// template is a CloudFormation template. It has only the parts that are changed here.
type template struct {
	Resources  map[string]*resource
	Outputs    map[string]any `json:",omitempty"`
	Parameters map[string]any `json:",omitempty"`
	Rules      map[string]any `json:",omitempty"`
	Mappings   map[string]any `json:",omitempty"`
	Conditions map[string]any `json:",omitempty"`
}

type resource struct {
	Type                string
	Properties          map[string]any `json:",omitempty"`
	DependsOn           any            `json:",omitempty"` // a name or a list of them
	Condition           string         `json:",omitempty"`
	DeletionPolicy      string         `json:",omitempty"`
	UpdateReplacePolicy string         `json:",omitempty"`
}

// refused returns prefixes of the resource types that are removed from the template, since the
// emulator doesn't know them. It knows some of EC2, but without Batch nothing needs a network. It
// knows alarms, but refuses those on a computed metric.
func refused() []string {
	return []string{"AWS::Batch::", "AWS::EC2::", "AWS::CloudWatch::", "AWS::Cognito::ManagedLoginBranding", "AWS::Logs::ResourcePolicy"}
}

// These are outputs that adapt adds to a template, for the fake of Batch and for edge.
const (
	outputAPI      = "LocalAPI"         // id of the API
	outputJobRole  = "LocalJobRole"     // ARN of the role of jobs
	outputJobValue = "LocalJobVariable" // followed by the name of a job definition and a number: a value of its environment
)

// adapt adapts the template to the emulator. It removes resources that the emulator refuses, and
// replaces references to them by ARNs without a resource, as it does with the function that is an image. It also removes policies that refuse plain
// HTTP, and deletion policies. It replaces hosts of AWS by places, and sends the calls of Batch and of Lambda by
// functions there. It also removes the resources whose types begin with another prefix. It returns the names of the environment variables of the job definitions, by
// their names, and of the function that is an image; their values become outputs of the stack.
func (t *template) adapt(others []string, p places) (jobs map[string][]string, small []string, err error) {
	if jobs, err = t.exportJobs(); err != nil {
		return nil, nil, err
	}
	small, gone, err := t.takeSmall()
	if err != nil {
		return nil, nil, err
	}
	if err := t.move(p); err != nil {
		return nil, nil, err
	}
	t.redirect(p)
	t.dropPools()
	dropped := t.drop(append(refused(), others...))
	maps.Copy(dropped, gone)
	t.resolveSecrets()
	for _, r := range t.Resources {
		r.Properties, _ = resolve(r.Properties, dropped).(map[string]any)
		r.DependsOn = without(r.DependsOn, dropped)
		r.DeletionPolicy, r.UpdateReplacePolicy = "", "" // nothing outlives the stack here
	}
	t.Outputs, _ = resolve(t.Outputs, dropped).(map[string]any)
	t.dropMachineImages()
	return jobs, small, nil
}

// exportJobs adds the environments of the job definitions to the stack's outputs, and the role of all jobs.
func (t *template) exportJobs() (map[string][]string, error) {
	names, role := map[string][]string{}, any(nil)
	for definition, r := range t.jobDefinitions() {
		container, _ := r.Properties["ContainerProperties"].(map[string]any)
		if role != nil && !reflect.DeepEqual(role, container["JobRoleArn"]) {
			return nil, fmt.Errorf("the job definition %s has another role than others", definition)
		}
		role = container["JobRoleArn"]
		names[definition] = nil
		list, _ := container["Environment"].([]any)
		for i, item := range list {
			variable, _ := item.(map[string]any)
			name, _ := variable["Name"].(string)
			names[definition] = append(names[definition], name)
			t.export(fmt.Sprint(outputJobValue, definition, i), variable["Value"])
		}
	}
	return names, t.exportRole(outputJobRole, role)
}

// jobDefinitions returns the job definitions by their names.
func (t *template) jobDefinitions() map[string]*resource {
	all := maps.Clone(t.Resources)
	maps.DeleteFunc(all, func(_ string, r *resource) bool { return r.Type != "AWS::Batch::JobDefinition" })
	return all
}

// jobAttempts returns the number of times that Batch starts a job, which all job definitions have.
func (t *template) jobAttempts() (attempts int, err error) {
	for name, r := range t.jobDefinitions() {
		strategy, _ := r.Properties["RetryStrategy"].(map[string]any)
		n, _ := strategy["Attempts"].(float64)
		if n == 0 || attempts != 0 && attempts != int(n) {
			return 0, fmt.Errorf("the job definition %s does not say how often a job is tried, or not as others do", name)
		}
		attempts = int(n)
	}
	if attempts == 0 {
		return 0, errors.New("the template has no job definition")
	}
	return attempts, nil
}

// exportRole adds a role of the runner to the stack's outputs. It makes the role trust the whole
// account, since runners have no containers here.
func (t *template) exportRole(output string, arn any) error {
	reference, _ := arn.(map[string]any)
	role, ok := t.Resources[referent(reference)]
	if !ok {
		return errors.New("the runner has no role of the template")
	}
	trust, _ := role.Properties["AssumeRolePolicyDocument"].(map[string]any)
	statements, _ := trust["Statement"].([]any)
	trust["Statement"] = append(statements, map[string]any{
		"Effect": "Allow", "Action": "sts:AssumeRole",
		"Principal": map[string]any{"AWS": map[string]any{"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}},
	})
	t.export(output, arn)
	return nil
}

func (t *template) export(name string, value any) {
	if t.Outputs == nil {
		t.Outputs = map[string]any{}
	}
	t.Outputs[name] = map[string]any{"Value": value}
}

// only returns the only resource of the type.
func (t *template) only(kind string) (*resource, error) {
	var found []*resource
	for _, r := range t.Resources {
		if r.Type == kind {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("the template has %d resources of type %s, not one", len(found), kind)
	}
	return found[0], nil
}

// redirect lets the functions with a job queue call Batch and Lambda at the address, and those that make deliveries
// call webhooks on this machine. It sets the largest number of small workers.
func (t *template) redirect(p places) {
	for _, r := range t.Resources {
		environment, _ := r.Properties["Environment"].(map[string]any)
		variables, _ := environment["Variables"].(map[string]any)
		if r.Type != "AWS::Lambda::Function" {
			continue
		}
		if _, submits := variables[settings.JobQueue.Env()]; submits {
			variables["AWS_ENDPOINT_URL_BATCH"], variables["AWS_ENDPOINT_URL_LAMBDA"] = p.Batch, p.Batch
		}
		if _, counts := variables[settings.SmallWorkers.Env()]; counts {
			variables[settings.SmallWorkers.Env()] = strconv.Itoa(p.Small)
		}
		if _, delivers := variables[settings.DeliveriesURL.Env()]; delivers {
			variables[settings.AllowPrivateNetworks.Env()] = "true"
		}
	}
}

// dropPools removes the identity pools by which functions get long sessions, because the emulator
// issues no tokens of identities. Functions then assume their signer's role themselves.
func (t *template) dropPools() {
	for name, r := range t.Resources {
		if r.Type == "AWS::Cognito::IdentityPool" {
			delete(t.Resources, name)
		}
		environment, _ := r.Properties["Environment"].(map[string]any)
		variables, _ := environment["Variables"].(map[string]any)
		delete(variables, settings.SignerPool.Env())
		r.dropStatements("sts:AssumeRoleWithWebIdentity", "cognito-identity:GetOpenIdTokenForDeveloperIdentity")
	}
}

// dropStatements removes the statements that allow an action from a role's trust or a policy.
func (r *resource) dropStatements(actions ...string) {
	for _, name := range []string{"AssumeRolePolicyDocument", "PolicyDocument"} {
		document, _ := r.Properties[name].(map[string]any)
		if statements, ok := document["Statement"].([]any); ok {
			document["Statement"] = slices.DeleteFunc(statements, func(s any) bool {
				statement, _ := s.(map[string]any)
				action, _ := statement["Action"].(string)
				return slices.Contains(actions, action)
			})
		}
	}
}

// resolveSecrets replaces references to secrets so that they give ARNs, as they do on AWS.
func (t *template) resolveSecrets() {
	arns := map[string]any{}
	for name, r := range t.Resources {
		if r.Type == "AWS::SecretsManager::Secret" {
			arns[name] = map[string]any{"Fn::GetAtt": []any{name, "Id"}}
		}
	}
	for _, r := range t.Resources {
		r.Properties, _ = resolve(r.Properties, arns).(map[string]any)
	}
}

// drop removes resources of the types with the prefixes, and policies of which the emulator takes no part. It returns the ARN for each removed resource.
func (t *template) drop(prefixes []string) map[string]any {
	dropped := map[string]any{}
	for name, r := range t.Resources {
		if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(r.Type, prefix) }) {
			service, kind, _ := strings.Cut(strings.TrimPrefix(r.Type, "AWS::"), "::")
			dropped[name] = map[string]any{"Fn::Sub": fmt.Sprintf(
				"arn:${AWS::Partition}:%s:${AWS::Region}:${AWS::AccountId}:%s/%s", strings.ToLower(service), kebab(kind), name)}
			delete(t.Resources, name)
		}
		if !r.allowPlainHTTP() {
			dropped[name] = nil // other resources name a policy only in DependsOn
			delete(t.Resources, name)
		}
	}
	return dropped
}

// dropMachineImages removes the parameters that look up machine images, which the emulator doesn't
// have. The resources that need them were removed.
func (t *template) dropMachineImages() {
	for name, parameter := range t.Parameters {
		p, _ := parameter.(map[string]any)
		if p["Type"] == "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>" {
			delete(t.Parameters, name)
		}
	}
}

// kebab writes JobQueue as job-queue.
func kebab(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(c)
	}
	return strings.ToLower(b.String())
}

// allowPlainHTTP removes statements that refuse calls without TLS. It reports whether the policy
// has other statements, or the resource is not such a policy.
func (r *resource) allowPlainHTTP() bool {
	policy, _ := r.Properties["PolicyDocument"].(map[string]any)
	statements, ok := policy["Statement"].([]any)
	if !ok {
		return true
	}
	policy["Statement"] = slices.DeleteFunc(statements, func(s any) bool {
		statement, _ := s.(map[string]any)
		condition, _ := statement["Condition"].(map[string]any)
		test, _ := condition["Bool"].(map[string]any)
		return test["aws:SecureTransport"] == "false"
	})
	return len(policy["Statement"].([]any)) > 0
}

// resolve replaces Ref and Fn::GetAtt in a value, for removed resources.
func resolve(value any, dropped map[string]any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = resolve(v[i], dropped)
		}
	case map[string]any:
		if arn, ok := dropped[referent(v)]; ok {
			return arn
		}
		for _, key := range slices.Collect(maps.Keys(v)) {
			v[key] = resolve(v[key], dropped)
		}
	}
	return value
}

// referent returns the name of the resource that a Ref or Fn::GetAtt refers to.
func referent(v map[string]any) string {
	if name, ok := v["Ref"].(string); ok {
		return name
	}
	if attribute, ok := v["Fn::GetAtt"].([]any); ok && len(attribute) > 0 {
		name, _ := attribute[0].(string)
		return name
	}
	return ""
}

// without removes dropped resources from a DependsOn.
func without(dependsOn any, dropped map[string]any) any {
	var names []any
	switch d := dependsOn.(type) {
	case string:
		names = []any{d}
	case []any:
		names = d
	}
	names = slices.DeleteFunc(names, func(name any) bool {
		_, gone := dropped[fmt.Sprint(name)]
		return gone
	})
	if len(names) == 0 {
		return nil
	}
	return names
}

package stack

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// addChecks lets cdk-nag check the stack when it is synthesised, and gives reasons for the rules
// that the stack does not follow.
func (s *service) addChecks() {
	excuse(s.bucket, "S1", "Objects are reached only by signed URLs. A logged call of the API hands out each of them.")
	excuse(s.vpc, "VPC7", "Nothing connects to the instances; what they fetch is in the runner's log.")
	excuse(s.child("InstanceRole"), "IAM4", "Batch asks for this policy by name, and AWS keeps it fit for the ECS agent.")
	for _, f := range s.fleets {
		excuse(s.child(f.prefix+"Container"), "IAM5", "ecr:GetAuthorizationToken knows no resource.", "Resource::*")
	}
	s.excuseRoles()
	s.excuseAPI()
	s.excuseSignIn()
	awscdk.Aspects_Of(s.stack).Add(cdknag.NewAwsSolutionsChecks(nil), nil)
}

// excuseRoles excuses wildcards in policies. The package template-tests has the complete list of
// each role's rights.
func (s *service) excuseRoles() {
	const objects = "Objects have no fixed names: the star stands for what follows a prefix."
	for _, l := range append(s.lambdas(), s.broker()) {
		role := s.child(l.id() + "Role")
		excuse(role, "IAM5", "X-Ray, batch:ListJobs of dispatch and sweep, and dynamodb:ListStreams of publish know no resources.", "Resource::*")
		excuse(role, "IAM5", objects, s.objects("inputs"), s.objects("uploads"), s.objects("outputs"), s.objects("pieces"),
			s.objects("findings"), s.objects("batches"))
	}
	for _, role := range []string{"DispatchRole", "SweepRole"} {
		excuse(s.child(role), "IAM5", "Each release makes a revision of the job definition.", "/^Resource::arn:.*:batch:.*:\\*$/")
	}
	runners := []string{"RunnerRole"}
	if s.small != nil {
		runners = append(runners, "SmallRole")
		excuse(s.child("SmallRole"), "IAM5", "X-Ray knows no resources.", "Resource::*")
	}
	for _, role := range runners {
		excuse(s.child(role), "IAM5", objects, s.objects("models"))
	}
	excuse(s.child("RequestMedia"), "IAM5", objects, s.objects("inputs"), s.objects("uploads"), s.objects("outputs"), s.objects("pieces"), s.objects("findings"))
	for _, g := range s.signers() {
		excuse(s.child(g.id), "IAM5", objects, s.objects("inputs"), s.objects("uploads"), s.objects("outputs"))
	}
}

func (s *service) excuseAPI() {
	excuse(s.api, "APIG2", "The functions check what they get, and answer with the messages that clients know.")
	excuse(s.api, "APIG4", "Each function checks the API key; health and the API's document are public.")
	excuse(s.api, "COG4", "Clients have API keys, and people a session that the dashboard's function checks.")
	excuse(s.api, "APIG3", "A firewall costs the same idle or busy. Rates and throttling bound what calls cost; an operator gets one by addressRate.")
	excuse(s.api, "APIG6", "Logs of executions may have tokens in them. Access logs and the functions' own have what is needed.")
}

func (s *service) excuseSignIn() {
	excuse(s.users, "COG2", "Each user decides whether to have a second factor; one who can't would be kept out.")
	excuse(s.users, "COG3", "Threat protection is a plan of Cognito's that costs for each user.")
	excuse(s.secret, "SMG4", "A new secret ends all sessions. Nobody but one function ever reads it.")
}

func (s *service) child(id string) constructs.IConstruct {
	return s.stack.Node().FindChild(jsii.String(id))
}

// objects returns cdk-nag's name for the objects under a prefix of the bucket.
func (s *service) objects(prefix string) string {
	id := s.stack.GetLogicalId(s.bucket.Node().DefaultChild().(awscdk.CfnElement))
	return "Resource::<" + *id + ".Arn>/" + prefix + "/*"
}

// excuse turns off a rule for a construct and its parts, or only for findings in some places. A
// place between slashes is a pattern.
func excuse(c constructs.IConstruct, rule, reason string, places ...string) {
	suppression := &cdknag.NagPackSuppression{Id: jsii.String("AwsSolutions-" + rule), Reason: jsii.String(reason)}
	if len(places) > 0 {
		var applies []any
		for _, p := range places {
			if strings.HasPrefix(p, "/") {
				applies = append(applies, &cdknag.RegexAppliesTo{Regex: jsii.String(p)})
				continue
			}
			applies = append(applies, p)
		}
		suppression.AppliesTo = &applies
	}
	cdknag.NagSuppressions_AddResourceSuppressions(c, &[]*cdknag.NagPackSuppression{suppression}, jsii.Bool(true))
}

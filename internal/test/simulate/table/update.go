package table

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// assignment makes one change of the item i. old is the item before the update.
type assignment func(i, old, values item) error

// readUpdate parses the lists of SET, ADD and REMOVE.
func readUpdate(p *parser) (all []assignment) {
	for len(p.tokens) > 0 {
		clause := p.next()
		for {
			all = append(all, p.assignment(clause))
			if !p.accept(",") {
				break
			}
		}
	}
	return all
}

func (p *parser) assignment(clause string) assignment {
	name := p.attribute()
	switch clause {
	case "SET":
		p.expect("=")
		value := p.operand()
		return func(i, old, values item) error {
			if i[name] = value(old, values); i[name] == nil {
				return invalid("The provided expression refers to an attribute that does not exist in the item")
			}
			return nil
		}
	case "ADD":
		value := p.operand()
		return func(i, old, values item) error {
			more := value(old, values)
			if !isNumber(more) || old[name] != nil && !isNumber(old[name]) {
				return invalid("ADD of a value that is not a number")
			}
			i[name] = &types.AttributeValueMemberN{Value: strconv.FormatInt(whole(old[name])+whole(more), 10)}
			return nil
		}
	case "REMOVE":
		return func(i, _, _ item) error { delete(i, name); return nil }
	}
	p.fail()
	return nil
}

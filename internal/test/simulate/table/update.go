package table

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// assignment makes one change of the item i. old is the item before the update.
type assignment func(i, old, values item)

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
		return func(i, old, values item) { i[name] = value(old, values) }
	case "ADD":
		value := p.operand()
		return func(i, old, values item) {
			sum := whole(old[name]) + whole(value(old, values))
			i[name] = &types.AttributeValueMemberN{Value: strconv.FormatInt(sum, 10)}
		}
	case "REMOVE":
		return func(i, _, _ item) { delete(i, name) }
	}
	p.fail()
	return nil
}

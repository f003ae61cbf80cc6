package simulate

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lipsync/internal/aws/sqs"
	"lipsync/internal/domain/lipsync"
)

// messages models SQS, and how Lambda takes messages from a queue.
type messages struct {
	Messages
	dice   *dice
	handle func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)
	call   func(ctx context.Context, do func(context.Context) error) error

	mu                              sync.Mutex
	waiting                         []events.SQSMessage
	arrived                         chan struct{} // has an element if messages may be waiting
	sent, received, deleted, failed int64
	most                            int
}

// maxReceives is the number of deliveries of a message before it goes to the dead-letter queue.
const maxReceives = 5

// perCall is the number of messages that one call of SQS receives or deletes.
const perCall = 10

var _ lipsync.Hints = (*messages)(nil)

func (m *messages) Send(_ context.Context, r lipsync.Request) error {
	m.send(r.ID)
	return nil
}

// foretell is the Foretell of base.Ports.
func (m *messages) foretell(context.Context) error {
	m.send(sqs.Foretold)
	return nil
}

func (m *messages) send(body string) {
	time.Sleep(5 * time.Millisecond)
	m.mu.Lock()
	m.sent++
	m.mu.Unlock()
	message := events.SQSMessage{Body: body, Attributes: map[string]string{sentAt: millis()}}
	if m.dice.happens(m.Lost) {
		return
	}
	if m.dice.happens(m.Doubled) {
		m.later(m.dice.between(0, time.Minute), message)
	}
	if m.dice.happens(m.Late) {
		m.later(m.dice.between(time.Second, time.Minute), message)
		return
	}
	m.put(message)
}

func (m *messages) later(d time.Duration, message events.SQSMessage) {
	time.AfterFunc(d, func() { m.put(message) })
}

func (m *messages) put(message events.SQSMessage) {
	m.mu.Lock()
	m.waiting = append(m.waiting, message)
	m.most = max(m.most, len(m.waiting))
	m.mu.Unlock()
	m.wake()
}

// wake starts a call for the waiting messages.
func (m *messages) wake() {
	select {
	case m.arrived <- struct{}{}:
	default:
	}
}

// take removes the messages of one event from the queue.
func (m *messages) take() (batch []events.SQSMessage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(len(m.waiting), m.Batch)
	batch = append(batch, m.waiting[:n]...)
	m.waiting = m.waiting[n:]
	m.received += int64((n + perCall - 1) / perCall)
	return batch
}

// run delivers messages to the function until ctx ends.
func (m *messages) run(ctx context.Context) {
	var all sync.WaitGroup
	for range m.Concurrency {
		all.Go(func() {
			for ctx.Err() == nil {
				select {
				case <-ctx.Done():
				case <-m.arrived:
					if batch := m.take(); len(batch) > 0 {
						m.wake() // there may be more
						m.deliver(ctx, batch)
					}
				}
			}
		})
	}
	all.Wait()
}

// deliver calls the function with one event. Messages that fail are delivered again.
func (m *messages) deliver(ctx context.Context, batch []events.SQSMessage) {
	var response events.SQSEventResponse
	for i, message := range batch {
		batch[i].MessageId = strconv.Itoa(i)
		batch[i].Attributes = maps.Clone(message.Attributes)
		if receives(message) == 1 {
			batch[i].Attributes[receivedAt] = millis()
		}
	}
	err := m.call(ctx, func(ctx context.Context) (err error) {
		response, err = m.handle(ctx, events.SQSEvent{Records: batch})
		return err
	})
	again := make(map[string]bool)
	for _, f := range response.BatchItemFailures {
		again[f.ItemIdentifier] = true
	}
	m.mu.Lock()
	m.deleted += int64((len(batch) + perCall - 1) / perCall)
	m.mu.Unlock()
	for _, message := range batch {
		if err == nil && !again[message.MessageId] {
			continue
		}
		m.mu.Lock()
		m.failed++
		m.mu.Unlock()
		if n := receives(message); n < maxReceives {
			message.Attributes[receiveCount] = strconv.Itoa(n)
			m.later(m.Hidden, message)
		}
	}
}

// These are attributes of messages.
const (
	receiveCount = "ApproximateReceiveCount"
	sentAt       = "SentTimestamp"
	receivedAt   = "ApproximateFirstReceiveTimestamp"
)

// millis returns the time of now as SQS tells it.
func millis() string { return strconv.FormatInt(time.Now().UnixMilli(), 10) }

// receives returns the number of deliveries of the message, including this one.
func receives(m events.SQSMessage) int {
	before, _ := strconv.Atoi(m.Attributes[receiveCount]) // 0 the first time
	return before + 1
}

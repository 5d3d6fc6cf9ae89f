import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const law = 'test/laws/tree-messages.test.ts'
const story = 'test/domain/messages.test.ts'
const rule = 'messages'

/** Rules for messages between agents (CONTRACTS 4). */
export const MESSAGES: readonly Rule[] = [
  {
    rule,
    says: 'a request that was refused is taken by no courier that comes later',
    test: law,
    fault: fault('agent/decide/decide-messages.ts', '...(origin && { origin }), ', ''),
  },
  {
    rule,
    says: 'agents that wait for each other wait in no circle',
    test: story,
    name: 'neither waits in a circle',
    fault: fault('agent/decide/decide-messages.ts', 'if (waitsForAnother(state)) return', 'if (now < 0) return'),
  },
  {
    rule,
    says: 'after an accepted loss no message has the id of a lost one',
    test: story,
    name: 'its id tells the loss',
    fault: fault('log/ids.ts', "losses === undefined ? '' : ", "losses !== 0 ? '' : "),
  },
  {
    rule,
    says: 'a request waits for 30 s',
    test: story,
    name: 'and not before',
    fault: fault('agent/decide/proceed-calls.ts', 'if (d.context.now >= stage.until)', 'if (!d.drives)'),
  },
  {
    rule,
    says: 'a person answers a request only while it waits',
    test: story,
    name: 'a second one is refused',
    fault: fault(
      'agent/decide/decide-person-messages.ts',
      'if (callWaitingFor(d.state, request) !== undefined) return',
      'if (request !== undefined) return',
    ),
  },
]

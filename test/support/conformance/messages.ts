import { drop, replace } from '../mutations/edits.ts'
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
    fault: fault('domain/agent/decide/decide-messages.ts', 'refuse', drop('entry', 'origin')),
  },
  {
    rule,
    says: 'agents that wait for each other wait in no circle',
    test: story,
    name: 'neither waits in a circle',
    fault: fault(
      'domain/agent/decide/decide-messages.ts',
      'whyNoRequest',
      replace('condition', 'waitsForAnother', 'false'),
    ),
  },
  {
    rule,
    says: 'after an accepted loss no message has the id of a lost one',
    test: story,
    name: 'its id tells the loss',
    fault: fault('domain/log/ids.ts', 'messageId', replace('condition', 'losses', 'true')),
  },
  {
    rule,
    says: 'a request waits for 30 s',
    test: story,
    name: 'and not before',
    fault: fault('domain/agent/decide/proceed-calls.ts', 'settleOne', replace('condition', 'until', 'false')),
  },
  {
    rule,
    says: 'a person answers a request only while it waits',
    test: story,
    name: 'a second one is refused',
    fault: fault(
      'domain/agent/decide/decide-person-messages.ts',
      'mustWait',
      replace('condition', 'callWaitingFor', 'true'),
    ),
  },
]

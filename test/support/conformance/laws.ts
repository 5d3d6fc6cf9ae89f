import { drop, replace } from '../mutations/edits.ts'
import type { Mutation } from '../mutations/mutation.ts'
import { fault, law } from './row.ts'

/** A law of DESIGN, with a fault that its test catches. */
interface Caught {
  readonly law: string
  readonly says: string
  readonly test: string
  readonly name?: string
  readonly fault: Mutation
}

export const LAWS: readonly Caught[] = [
  {
    law: '1',
    says: 'a member of the state that JSON drops',
    test: law('1-folds'),
    name: 'cut anywhere',
    fault: fault('domain/agent/state/evolve-turns.ts', 'answered', replace('value', 'failedModel', 'undefined')),
  },
  {
    law: '2',
    says: 'an event that is counted again when it is delivered again',
    test: 'test/projections/laws.test.ts',
    fault: fault('projections/engine/projector/fold.ts', 'foldBatch', replace('condition', 'after', 'false')),
  },
  {
    law: '2',
    says: 'a stream with a gap that is gone on with',
    test: 'test/projections/projector.test.ts',
    fault: fault('projections/engine/projector/fold.ts', 'take', replace('value', 'gap', 'null')),
  },
  {
    law: '2',
    says: 'a release that reads beyond where the tables are',
    test: 'test/projections/projector.test.ts',
    fault: fault('projections/engine/projector/fold.ts', 'refold', replace('condition', 'upTo', 'false')),
  },
  {
    law: '2',
    says: 'a stream that is parked again at later damage',
    test: 'test/projections/projector.test.ts',
    fault: fault('projections/engine/projector/fold.ts', 'damaged', replace('condition', '#isParked', 'true')),
  },
  {
    law: '2',
    says: 'damage that an earlier reader has looked past is not given to the next one',
    test: 'test/adapters/log/eventstore/damage.test.ts',
    fault: fault('adapters/eventstore/follow.ts', 'noted', replace('value', 'damaged', 'false')),
  },
  {
    law: '6',
    says: 'an Idempotency-Key that a second request takes over',
    test: 'test/runtime/claim-idempotency-key.test.ts',
    fault: fault('domain/agent/runtime/claim-idempotency-key.ts', 'claimKey', drop('operand', 'isRepeatedRequest')),
  },
  {
    law: '3',
    says: 'an outcome that is taken for a call that has ended',
    test: law('3-decisions'),
    fault: fault('domain/agent/decide/decide-tools.ts', 'decideToolFact', drop('operand', 'UNSETTLED')),
  },
  {
    law: '4',
    says: 'results shown as they arrive',
    test: law('4-arrival'),
    name: 'any order',
    fault: fault('domain/agent/state/transcript.ts', 'result', replace('call', 'set', 'this.items.push($2)')),
  },
  {
    law: '4',
    says: 'two changes of the working memory side by side',
    test: law('4-arrival'),
    name: 'working memory',
    fault: fault('domain/calls/scheduling.ts', 'conflicts', replace('condition', 'kinds', 'false')),
  },
  {
    law: '5',
    says: 'an irreversible call run again after a crash',
    test: law('5-crashes'),
    name: 'each boundary of one rich run',
    fault: fault('domain/calls/decide/proceed.ts', 'inDoubt', drop('operand', 'irreversible')),
  },
  {
    law: '5',
    says: 'a driver that does not look whether it still owns the agent',
    test: 'test/runtime/ownership.test.ts',
    name: 'looks whether he still owns the agent',
    fault: fault('domain/agent/runtime/driver.ts', 'stillOwed', drop('statement', 'refresh')),
  },
  {
    law: '5',
    says: 'a request that is recorded again when it is repeated',
    test: law('5-crashes'),
    name: 'killed anywhere',
    fault: fault('domain/stream/runtime/idempotency-keys.ts', 'has', replace('call', 'find', 'undefined')),
  },
  {
    law: '6',
    says: 'an unknown outcome taken for a success',
    test: law('6-appends'),
    name: 'before or after',
    fault: fault('domain/stream/runtime/append.ts', 'append', replace('statement', 'pause', 'return')),
  },
  {
    law: '6',
    says: 'a driver that goes on after another has claimed',
    test: law('6-appends'),
    name: 'frozen clocks',
    fault: fault('domain/agent/runtime/driver.ts', 'loop', replace('condition', 'epoch', 'false')),
  },
  {
    law: '7',
    says: 'a shape that changes under its old version',
    test: law('7-old-shapes'),
    fault: fault('domain/agent/events/events.ts', 'agentBodies', replace('value', 'unread', '$.optional()')),
  },
  {
    law: '7',
    says: 'a fold that changes without a new version of the fold',
    test: law('7-golden-runs'),
    name: 'replayed on',
    fault: fault('domain/agent/state/evolve-turns.ts', 'evolveTurnEnd', replace('value', 'textOnly', '($) * 2')),
  },
  {
    law: '7',
    says: 'a header that has another shape under its old version',
    test: law('7-old-shapes'),
    fault: fault('domain/log/envelope.ts', 'Header', replace('value', 'trace', '$.nullable()')),
  },
  {
    law: '7',
    says: 'a refinement that comes under an old version',
    test: law('7-old-shapes'),
    fault: fault(
      'domain/calls/events/events.ts',
      'approvalEvents',
      replace('call', 'enum approved', "$.refine((said) => said !== 'rejected')"),
    ),
  },
  {
    law: '7',
    says: 'an event type that is no longer written',
    test: law('7-golden-runs'),
    name: 'told again',
    fault: fault(
      'domain/agent/decide/decide-requests.ts',
      'decideRequest',
      replace('word', 'step_requested', 'resumed'),
    ),
  },
  {
    law: '7',
    says: 'requests that are worded otherwise by the same assembler',
    test: law('7-golden-runs'),
    name: 'replayed on',
    fault: fault('domain/calls/result-text.ts', 'outcomeText', replace('call', 'resultText', "$ + '.'")),
  },
  {
    law: '7',
    says: 'rows that mean something else under the same ROW_MEANING',
    test: law('7-golden-runs'),
    name: 'replayed on',
    fault: fault('projections/agent/rows/model-calls.ts', 'modelCalls', replace('word', 'late', 'answered')),
  },
  {
    law: '8',
    says: 'an Idempotency-Key kept as it came',
    test: law('8-secrets'),
    name: 'in no byte',
    fault: fault('domain/agent/runtime/request-origin.ts', 'requesterOf', replace('call', 'keyedCommand', '$2')),
  },
  {
    law: '8',
    says: 'a message that is cut before its secrets are replaced',
    test: law('8-secrets'),
    name: 'in no byte',
    fault: fault(
      'domain/agent/runtime/perform/perform-model.ts',
      'performModel',
      replace('call', 'text message', '$0.text(shortened($1))'),
    ),
  },
  {
    law: '9',
    says: 'a replay that asks the clock',
    test: law('9-replay'),
    name: 'touch no model',
    fault: fault('domain/agent/runtime/runtime.ts', 'at', replace('call', 'agentAt', 'this.ports.clock.now() && $')),
  },
  {
    law: '9',
    says: 'a model that is shown a text that is not stored',
    test: law('9-replay'),
    name: 'what the model was sent',
    fault: fault('domain/agent/decide/decision-builder.ts', 'emit', replace('call', 'parse', 'given')),
  },
  {
    law: '10',
    says: 'a driver that reads its whole history before each effect',
    test: law('10-growth'),
    fault: fault(
      'domain/stream/runtime/mailbox.ts',
      'refresh',
      replace('call', 'caughtUp', 'Array.fromAsync(this.read({})).then(() => $)'),
    ),
  },
]

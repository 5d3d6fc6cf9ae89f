import type { Mutation } from '../mutation.ts'
import { fault, law } from './row.ts'

/** A law of DESIGN, with a fault that its test catches. */
export interface Caught {
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
    fault: fault('agent/state/evolve-turns.ts', '    failedModel: null,\n', '    failedModel: undefined as never,\n'),
  },
  {
    law: '2',
    says: 'an event that is counted again when it is delivered again',
    test: 'test/projections/laws.test.ts',
    fault: {
      file: 'projections/engine/projector/fold.ts',
      search: 'after ? entries.filter(({ position }) => position > after.position) : entries',
      replace: 'entries',
    },
  },
  {
    law: '2',
    says: 'a stream with a gap that is gone on with',
    test: 'test/projections/projector.test.ts',
    fault: {
      file: 'projections/engine/projector/fold.ts',
      search: 'const gap = this.#isParked(stream) ? null : gapAt(read, this.#headOf(stream))',
      replace: 'const gap = null as Poison | null',
    },
  },
  {
    law: '2',
    says: 'a release that reads beyond where the tables are',
    test: 'test/projections/projector.test.ts',
    fault: {
      file: 'projections/engine/projector/fold.ts',
      search: '        if (revision !== null && revision > upTo) return true\n',
      replace: '',
    },
  },
  {
    law: '2',
    says: 'a stream that is parked again at later damage',
    test: 'test/projections/projector.test.ts',
    fault: {
      file: 'projections/engine/projector/fold.ts',
      search: 'if (!this.#isParked(stream)) this.#park',
      replace: 'this.#park',
    },
  },
  {
    law: '2',
    says: 'damage that an earlier reader has looked past is not given to the next one',
    test: 'test/adapters/log/eventstore-damage.test.ts',
    fault: {
      file: 'adapters/eventstore/follow.ts',
      search: "          if (prefix === '' && !damaged) await",
      replace: "          if (prefix === '') await",
    },
  },
  {
    law: '6',
    says: 'an Idempotency-Key that a second request takes over',
    test: 'test/runtime/claim-key.test.ts',
    fault: {
      file: 'domain/agent/runtime/claim-key.ts',
      search: 'claim !== undefined && isRepeated(claim.header.commandId, commandId)',
      replace: 'claim !== undefined',
    },
  },
  {
    law: '3',
    says: 'an outcome that is taken for a call that has ended',
    test: law('3-decisions'),
    fault: fault('agent/decide/decide-tools.ts', ' || !UNSETTLED.has(call.stage.at)', ''),
  },
  {
    law: '4',
    says: 'results shown as they arrive',
    test: law('4-arrival'),
    name: 'any order',
    fault: fault('agent/state/messages.ts', 'this.results.set(call.id, {', 'this.items.push({'),
  },
  {
    law: '4',
    says: 'two changes of the working memory side by side',
    test: law('4-arrival'),
    name: 'working memory',
    fault: fault(
      'agent/rules/scheduling.ts',
      "if (kinds[0] && kinds[1] && !kinds.includes('delegates')) return true",
      '',
    ),
  },
  {
    law: '5',
    says: 'an irreversible call run again after a crash',
    test: law('5-crashes'),
    name: 'each boundary of one rich run',
    fault: fault('agent/decide/proceed-calls.ts', "(call.effect === 'irreversible' ||", '('),
  },
  {
    law: '5',
    says: 'a driver that does not look whether it still owns the agent',
    test: 'test/runtime/ownership.test.ts',
    name: 'looks whether he still owns the agent',
    fault: fault('agent/runtime/driver.ts', '    await this.mailbox.refresh()\n    return (', '    return ('),
  },
  {
    law: '5',
    says: 'a request that is recorded again when it is repeated',
    test: law('5-crashes'),
    name: 'killed anywhere',
    fault: fault(
      'stream/runtime/keys.ts',
      'remembered.find((one) => keyOf(one) === key)',
      'undefined as string | undefined',
    ),
  },
  {
    law: '6',
    says: 'an unknown outcome taken for a success',
    test: law('6-appends'),
    name: 'before or after',
    fault: fault('stream/runtime/append.ts', 'await retry.pause(stillInDoubt(error))', 'return'),
  },
  {
    law: '6',
    says: 'a driver that goes on after another has claimed',
    test: law('6-appends'),
    name: 'frozen clocks',
    fault: fault(
      'agent/runtime/driver.ts',
      'if (state.driver?.epoch !== this.epoch || state.driver.id !== this.id) {',
      'if (signal.aborted) {',
    ),
  },
  {
    law: '7',
    says: 'a shape that changes under its old version',
    test: law('7-old-shapes'),
    fault: fault(
      'agent/events/events.ts',
      'turn_start: z.strictObject({ unread: count })',
      'turn_start: z.strictObject({ unread: count, more: text.optional() })',
    ),
  },
  {
    law: '7',
    says: 'a fold that changes without a new version of the fold',
    test: law('7-golden-runs'),
    name: 'replayed on',
    fault: fault(
      'agent/state/evolve-turns.ts',
      "textOnly: outcome === 'text' ? state.textOnly + 1 : 0",
      "textOnly: outcome === 'text' ? state.textOnly + 2 : 0",
    ),
  },
  {
    law: '7',
    says: 'a header that has another shape under its old version',
    test: law('7-old-shapes'),
    fault: fault('log/envelope.ts', 'trace: z.string().min(1).optional()', 'trace: z.string().optional()'),
  },
  {
    law: '7',
    says: 'a refinement that comes under an old version',
    test: law('7-old-shapes'),
    fault: fault(
      'agent/events/events.ts',
      "decision: z.enum(['approved', 'rejected']),",
      "decision: z.enum(['approved', 'rejected']).refine((said) => said !== 'rejected', 'only approved'),",
    ),
  },
  {
    law: '7',
    says: 'an event type that is no longer written',
    test: law('7-golden-runs'),
    name: 'told again',
    fault: fault('agent/decide/decide-requests.ts', "d.emit('step_requested', {})", "d.emit('resumed', {})"),
  },
  {
    law: '7',
    says: 'requests that are worded otherwise by the same assembler',
    test: law('7-golden-runs'),
    name: 'replayed on',
    fault: fault('agent/state/messages.ts', 'shown(success ?', "shown(success && toolName !== 'send' ?"),
  },
  {
    law: '7',
    says: 'rows that mean something else under the same MEANING',
    test: law('7-golden-runs'),
    name: 'replayed on',
    fault: {
      file: 'projections/agent/rows/model-calls.ts',
      search: "status: 'late' })",
      replace: "status: 'answered' })",
    },
  },
  {
    law: '8',
    says: 'an Idempotency-Key kept as it came',
    test: law('8-secrets'),
    name: 'in no byte',
    fault: fault('agent/runtime/request-origin.ts', 'keyedCommand(log.logId, key, asked)', 'key'),
  },
  {
    law: '8',
    says: 'a message that is cut before its secrets are replaced',
    test: law('8-secrets'),
    name: 'in no byte',
    fault: fault(
      'agent/runtime/perform/perform-model.ts',
      'shortened(env.secrets.text(error.message))',
      'env.secrets.text(shortened(error.message))',
    ),
  },
  {
    law: '9',
    says: 'a replay that asks the clock',
    test: law('9-replay'),
    name: 'touch no model',
    fault: fault(
      'agent/runtime/runtime.ts',
      'return agentAt(this.given, agentId, at, this.points)',
      'return this.ports.clock.now() > 0 ? agentAt(this.given, agentId, at) : agentAt(this.ports, agentId, at)',
    ),
  },
  {
    law: '9',
    says: 'a model that is shown a text that is not stored',
    test: law('9-replay'),
    name: 'what the model was sent',
    fault: fault(
      'agent/decide/decision-builder.ts',
      'const body = JSON.parse(text) as BodyOf<T>',
      'const body = given',
    ),
  },
  {
    law: '10',
    says: 'a driver that reads its whole history before each effect',
    test: law('10-growth'),
    fault: fault(
      'stream/runtime/mailbox.ts',
      'return this.enqueue(() => this.catchUp())',
      'return this.enqueue(async () => { for await (const _ of this.read({})); await this.catchUp() })',
    ),
  },
]

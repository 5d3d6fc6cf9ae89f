import { agentStream, toolCallId } from '../../../domain/log/ids.ts'
import { HASH } from './spec.ts'
import type { Actor, Tape } from './story.ts'

const USED = { input: 9, output: 4, cacheRead: 1, cacheWrite: 0 }
const report = (tape: Tape) => ({
  spent: { ...USED, nanoDollars: tape.pick(900), agents: 1 },
  uncertain: { tokens: tape.pick(50), nanoDollars: 0, agents: 0 },
})
const amounts = (tape: Tape) => ({ tokens: tape.pick(999), nanoDollars: tape.pick(999), agents: tape.pick(3) })
const originOf = (id: string, tape: Tape) => ({ stream: agentStream(id), revision: tape.pick(99), bodyHash: HASH })

/** The parent of a new agent records the delegation. */
export function delegate(parent: Actor, childId: string, tape: Tape): void {
  parent.children.push(childId)
  const grant = { tokens: tape.pick(2) === 0 ? null : 500, nanoDollars: 1_000, agents: 1 + tape.pick(4) }
  const body = { childId, role: 'coder', task: 'help', constraints: ['read_file'], expectedOutput: 'a list', grant }
  parent.write('child_delegated', { ...body, tree: null }, { toolCallId: toolCallId(parent.id, 1, 0) })
}

/** An event between an agent and its parent or its children. */
export function kinship(actor: Actor, tape: Tape): unknown {
  const childId = actor.children[tape.pick(Math.max(1, actor.children.length))]
  if (childId === undefined || tape.pick(3) === 0) return withParent(actor, tape)
  const origin = originOf(childId, tape)
  switch (tape.pick(10)) {
    case 0: {
      const ended = tape.pick(2) === 0 ? { status: 'completed' } : { status: 'failed', code: 'MODEL_FAILED' }
      const head = { revision: tape.pick(99), hash: HASH }
      return actor.write('child_ended', { origin, childId, head, ...ended, report: report(tape) })
    }
    case 1:
      return actor.write('child_unreached', { childId, reason: 'it did not end in time' })
    case 2:
      return actor.write('child_usage', { origin, childId, report: report(tape) })
    case 3: {
      const artifact = { id: `f${tape.pick(4)}`, type: 'plan', title: 'P', size: 5 }
      return actor.write('child_artifact', { origin, childId, artifact })
    }
    case 4:
      return actor.write('child_requested_budget', { origin, childId, want: amounts(tape) })
    case 5:
      return actor.write('budget_granted', { childId, request: 3, grant: amounts(tape) })
    case 6:
      return actor.write('cancel_forwarded', { childId, reason: 'no more', deadlineMs: 500 })
    case 7:
      return actor.write('pause_forwarded', { childId, reason: 'wait' })
    case 8:
      return actor.write('resume_forwarded', { childId })
    default: {
      const how = tape.pick(4)
      const reason = how < 3 ? { reason: 'there is no such agent' } : { reason: 'sent too early', stays: true }
      const bounced = how < 2 ? [] : [{ revision: tape.pick(9), ...reason }]
      return actor.write('delivered', { target: agentStream(childId), upTo: 9, accepted: null, bounced })
    }
  }
}

/** The events between an agent and its parent: reports, requests and grants. */
function withParent(actor: Actor, tape: Tape): unknown {
  switch (tape.pick(4)) {
    case 0:
      return actor.write('budget_requested', { want: amounts(tape) })
    case 1:
      return actor.write('budget_received', { origin: originOf('a000', tape), request: 4, grant: amounts(tape) })
    case 2:
      return actor.write('usage_reported', { report: report(tape) })
    default: {
      const said = { message: 'done so far', partialOutput: 'half', nextSteps: 'more', artifacts: ['a.ts'] }
      return actor.write('end_reported', { status: 'completed', ...said, unmetGates: [], report: report(tape) })
    }
  }
}

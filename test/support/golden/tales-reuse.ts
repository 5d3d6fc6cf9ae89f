import { ModelError } from '../../../domain/calls/errors.ts'
import { call, calls, completes, testModel } from '../harness.ts'
import { tool } from '../story.ts'
import { tale } from './tale.ts'

// Forks that reuse the recorded outcomes of their source.

const price = { asOf: '2026-01-01', input: 1_000_000, output: 2_000_000, cacheRead: 0, cacheWrite: 0 }
const known = [
  { ...testModel, price },
  { ...testModel, id: 'other-model', price },
]

/**
 * A fork that follows the record to its end and to an unknown outcome, one that leaves the record, and one with a call
 * without an outcome.
 */
export async function reuse() {
  const busy = new ModelError('OVERLOADED', 'busy', { transient: true })
  const hang = () => new Promise<never>(() => undefined)
  const send = tool('send', { effect: 'irreversible', timeLimitMs: 10 }, ({ n }) => (n === 2 ? hang() : 'sent'))
  const sends = (n: number) => calls(call('send', { n }))
  const sets = calls(call('set_context', { key: 'a', value: 1 }))
  const models = { requested: 'test-model', safeDefault: 'test-model', known }
  const spec = { policy: { requiresApproval: ['send'] }, models }
  const says = [sets, busy, sends(1), sends(2), sends(3), completes('sent'), completes('otherwise')]
  const run = await tale({ says, tools: [send], spec })
  const approve = async () => {
    await run.drive()
    const { toolCallId } = (await run.of('approval_requested')).at(-1)!
    await run.tell({ kind: 'decide_approval', toolCallId: toolCallId!, decision: 'approved' })
    await run.drive()
    return toolCallId!
  }
  const follows = async (options: object = {}) => {
    const fork = await run.fork(run.runId, { turn: 1 }, { reuse: true, ...options })
    await run.driveOther(fork)
    return fork
  }
  await approve()
  // The call of turn 3 waits for its approval and has no outcome yet.
  await follows()
  const doubtful = await approve()
  await follows()
  await run.tell({ kind: 'resolve_doubt', toolCallId: doubtful, decision: 'happened', result: 'it was sent' })
  await approve()
  await run.drive()
  await follows({ drive: true })
  await follows({ model: 'other-model' })
  return run.log
}

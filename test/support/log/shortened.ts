import { Decider } from '../decider.ts'
import { toolSpec } from '../harness.ts'

export const HASH = 'a'.repeat(64)
const tool = (name: string, effect: 'irreversible' | 'idempotent') =>
  ({ spec: toolSpec(name, { effect }), run: async () => ({ content: '' }) }) as never
export const pay = tool('pay', 'irreversible')
export const note = tool('note', 'idempotent')
export const lostPay = (toolCallId: string, argumentsHash = HASH) =>
  ({ toolCallId, toolName: 'pay', argumentsHash, effect: 'irreversible' }) as const
export const types = (events: readonly { type: string }[]) => events.map(({ type }) => type)

/** An agent whose log ends at a model request. The lost part contained one irreversible call. */
export function shortened(loss: { unlisted?: true; calls?: readonly object[] } = {}) {
  const given = new Decider({}, [pay, note])
  const driver = given.claim('d1')
  given.take({ kind: 'proceed' }, driver)
  const twin = new Decider({}, [pay, note])
  const other = twin.claim('d1')
  twin.take({ kind: 'proceed' }, other)
  const planned = twin.answers(other, ['pay', { to: 'x' }])[0]!
  const { argumentsHash } = (planned.body as { calls: { argumentsHash: string }[] }).calls[0]!
  const call = { toolCallId: 'run1.t1.c0', toolName: 'pay', argumentsHash, effect: 'irreversible' }
  given.take({ kind: 'accept_loss', loss: { revision: 9, hash: HASH, calls: [call], ...loss } as never })
  return { given, call }
}

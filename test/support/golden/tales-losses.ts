import { recordAcceptedLoss } from '../../../domain/agent/runtime/losses.ts'
import { call, calls, completes } from '../harness.ts'
import { tool } from '../story.ts'
import { ANN, tale } from './tale.ts'

/**
 * A run whose log has repeatedly lost its end. A person accepts the loss, states the outcomes of the calls, and
 * releases the run.
 */
export async function losses() {
  const send = tool('send', { effect: 'irreversible' })
  const run = await tale({
    says: [calls(call('send', { n: 1 })), calls(call('send', { n: 2 })), completes()],
    tools: [send],
  })
  const lost = (turn: number, effect: 'irreversible' | 'pure' | 'idempotent' | 'reconcilable', index = 0) => {
    const argumentsHash = `${turn}${index}`.padEnd(64, '0')
    return { toolCallId: run.call(turn, index), toolName: 'send', argumentsHash, effect }
  }
  let accepted = 0
  const accept = (loss: Parameters<typeof recordAcceptedLoss>[2]) =>
    recordAcceptedLoss(run.ports, run.runId, loss, { by: ANN, id: `loss ${++accepted}` })
  const all = [lost(1, 'irreversible'), lost(1, 'pure', 1), lost(1, 'idempotent', 2), lost(1, 'reconcilable', 3)]
  await accept({ revision: 9, hash: 'a'.repeat(64), calls: all, reason: 'the disk died', nanoDollars: 12_000 })
  await run.tell({
    kind: 'resolve_doubt',
    toolCallId: run.call(1),
    decision: 'happened',
    result: { sent: 1 },
    reason: 'I saw it',
  })
  await accept({
    revision: null,
    hash: null,
    calls: [lost(2, 'irreversible'), lost(3, 'irreversible')],
    unlisted: true,
  })
  await run.tell({ kind: 'resolve_doubt', toolCallId: run.call(2), decision: 'run' })
  await run.tell({ kind: 'resolve_doubt', toolCallId: run.call(3), decision: 'abandon' })
  await run.drive()
  await run.tell({ kind: 'resolve_doubt', toolCallId: run.call(1), decision: 'run' })
  await run.tell({ kind: 'release_loss', reason: 'nothing else was sent' })
  await accept({ revision: null, hash: null, calls: [], unlisted: true })
  await run.tell({ kind: 'release_loss' })
  await run.drive()
  return run.log
}

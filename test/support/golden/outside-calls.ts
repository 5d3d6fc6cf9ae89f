import type { ExternalFact } from '../../../domain/external/commands.ts'
import type { StreamExternalLog } from '../../../domain/external/runtime/stream-log.ts'
import { toolCallId } from '../../../domain/log/ids.ts'
import type { ExternalRunLog } from '../../../domain/ports/external.ts'
import type { VirtualClock } from '../time/virtual-clock.ts'

const GO_ON: ExternalFact = { kind: 'calls_go_on' }

/** Calls of keepup tools by an external agent, with all outcomes. `look` is pure; `send` needs an approval. */
export async function callTools(run: ExternalRunLog, runs: StreamExternalLog, clock: VirtualClock): Promise<void> {
  const { agentId } = run
  const ask = (index: number, name: string, args: Record<string, string | number>) =>
    run.append([{ kind: 'call', index, name, arguments: args, paths: {} }, GO_ON])
  const of = (index: number, toolName: string, attempt = 1) => ({
    ...{ toolCallId: toolCallId(agentId, 0, index), toolName, attempt, durationMs: 5 },
  })
  const decide = async (index: number, decision: 'approved' | 'rejected', reason?: string) => {
    const { toolCallId } = of(index, 'send')
    const said = reason === undefined ? {} : { reason }
    const stage = run.state.tools?.open.find((one) => one.id === toolCallId)?.stage
    if (decision === 'approved' && stage?.at === 'approval' && stage.needed !== undefined) {
      const by = { kind: 'approver', id: 'ben', claimed: true } as const
      const command = { kind: 'decide_permission', toolCallId, decision, ...said } as const
      await runs.ask(agentId, command, { by, commandId: `${agentId}.s${index}` })
      await run.look()
    }
    const by = { kind: 'approver', id: 'ann', claimed: true } as const
    await runs.ask(
      agentId,
      { kind: 'decide_permission', toolCallId, decision, ...said },
      {
        ...{ by, commandId: `${agentId}.d${index}` },
      },
    )
    await run.look()
    await run.append([GO_ON])
  }
  const busy = { code: 'NETWORK', message: 'the line is busy', transient: true, beforeEffect: true }

  await ask(0, 'look', { path: 'a' })
  await run.append([{ kind: 'tool_failed', ...of(0, 'look'), error: busy }])
  clock.time += 2_000
  await run.append([{ kind: 'tool_succeeded', ...of(0, 'look', 2), result: { content: 'ok' } }, GO_ON])
  await ask(1, 'no_such_tool', {})
  await ask(2, 'send', { to: 'bob' })
  await decide(2, 'approved', 'he waits for it')
  await run.append([{ kind: 'tool_in_doubt', ...of(2, 'send'), reason: 'the line went dead' }, GO_ON])
  await ask(3, 'send', { to: 'eve' })
  await decide(3, 'rejected')
  await ask(4, 'send', { to: 'dan' })
  clock.time += 86_400_000
  await run.append([GO_ON])
  // The agent ends while this call is running.
  await ask(5, 'send', { to: 'bob' })
  await decide(5, 'approved')
}

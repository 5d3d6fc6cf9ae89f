import { CommandRejected } from '../../calls/errors.ts'
import { agentStream } from '../../log/ids.ts'
import type { RuntimePorts } from '../../ports/runtime.ts'
import type { At } from '../../stream/point.ts'
import type { ForkAgent } from '../decide/commands.ts'
import { AGENT_FOLD, digestOf } from '../state/digest.ts'
import { agentStateAt } from './history/replay.ts'
import type { ForkOptions } from './types.ts'

/**
 * The command that starts a run with the history of another run up to a point. The prefix is read from the source
 * stream and not copied. Rejects with FORK_OF_CHILD if the agent is not a root.
 */
export async function forkOf(ports: RuntimePorts, source: string, at: At, options: ForkOptions): Promise<ForkAgent> {
  const { state, head } = await agentStateAt(ports, source, at)
  if (state.depth > 0) {
    const { agentId, runId } = state
    const why = `${agentId} was started by another agent, and only the root agent of a run can be forked`
    throw new CommandRejected('FORK_OF_CHILD', `${why}; fork ${runId} at a step or event of its root`)
  }
  const { model, maxTurns, budget, workspace = null, drive, reuse } = options
  return {
    kind: 'fork',
    source: state,
    link: {
      stream: agentStream(state.agentId),
      revision: head.revision,
      hash: head.hash,
      digest: { fold: AGENT_FOLD, value: digestOf(state) },
      step: state.step,
      workspace,
      changes: {
        ...(model === undefined ? {} : { model }),
        ...(maxTurns === undefined ? {} : { limits: { maxTurns } }),
        ...(budget === undefined ? {} : { budget }),
      },
      ...(reuse ? { reuse: { stream: agentStream(source) } } : {}),
      ...(drive ? { drive } : {}),
    },
  }
}

import { decideFork } from '../agent/decide-fork.ts'
import { digestOf } from '../agent/digest.ts'
import { CommandRejected } from '../agent/errors.ts'
import { agentStream } from '../log/ids.ts'
import { type Asking, sealDrafts } from './journal.ts'
import type { RuntimePorts } from './ports.ts'
import { agentAt } from './replay.ts'
import { SaltTape } from './salt-tape.ts'
import type { At } from './types.ts'

/** Starts a run whose history up to a point is another's. The prefix is read from its source, never sealed again. */
export async function fork(
  ports: RuntimePorts,
  runId: string,
  source: string,
  at: At,
  options: { workspace?: { path: string; tree: string | null }; model?: string; maxTurns?: number },
  asking: Asking,
): Promise<{ runId: string }> {
  const { state, head } = await agentAt(ports, source, at)
  if (state.depth > 0) throw new CommandRejected('FORK_OF_CHILD', 'only the root agent of a run can be forked')
  const known = options.model === undefined ? {} : { model: options.model }
  const limits = options.maxTurns === undefined ? {} : { limits: { maxTurns: options.maxTurns } }
  const body = {
    stream: agentStream(state.agentId),
    revision: head.revision,
    hash: head.hash,
    digest: digestOf(state),
    step: state.step,
    workspace: options.workspace ?? null,
    changes: { ...known, ...limits },
  }
  const tape = new SaltTape(ports.random)
  const now = Math.max(ports.clock.now(), ports.log.floor())
  const facts = { ...asking, now, salt: () => tape.salt(), jitter: () => tape.jitter() }
  const draft = decideFork(state, runId, body, facts)
  await ports.log.append(agentStream(runId), -1, sealDrafts([draft], new Set(), null, asking))
  return { runId }
}

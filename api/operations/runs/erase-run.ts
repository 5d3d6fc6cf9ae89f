import type { ErasureChoice } from '../../../domain/agent/runtime/types.ts'
import type { Actor } from '../../../domain/log/envelope.ts'
import { hex } from '../../../domain/log/ids.ts'
import type { ErasureReason } from '../../../domain/stream/runtime/erasure/types.ts'
import { selectMemories } from '../../../projections/index.ts'
import { eraseAnnotations } from '../annotation/annotations.ts'
import type { Services } from '../services.ts'
import { agentsOf } from './agents-of.ts'
import { erasableBodies, recordCommand } from './record-command.ts'
import type { RequestOptions } from './request-options.ts'
import { actorOf, tracing } from './request-options.ts'

/** The bodies to erase. `agent` absent: those of the root agent, or with `all` those of every agent of the run. */
export interface AskedErasure {
  readonly agent?: string | undefined
  readonly what: ErasureChoice & ErasureReason
  readonly by: string | undefined
  /** Who erases; absent: the person of the request. */
  readonly actor?: Actor
  readonly options: RequestOptions
}

/**
 * Erases bodies of one agent, or of all agents of a run one by one and then the run's tags and notes. Returns the answer of the first agent. If an agent
 * has not finished, rejects before anything is erased.
 */
export async function eraseRun(s: Services, runId: string, asked: AskedErasure) {
  const { what, by, options, actor = actorOf('user', by, options) } = asked
  const agents = await agentsToErase(s, runId, asked)
  if (agents.length > 1) for (const agentId of agents) await s.runtime.erasable(agentId, what)
  const erase = (agentId: string, own: RequestOptions) =>
    recordCommand(s, { agentId, command: { kind: 'erase', ...what }, actor, options: own, drive: 'no' })
  const [root = '', ...others] = agents
  // The root comes last: an erased root means that the whole run is erased, also after a crash in between. With an
  // expected revision it comes first, because it refuses another revision before anything is erased.
  const first = options.expectedRevision === undefined ? null : await erase(root, options)
  for (const agentId of others) await erase(agentId, ofOther(options, agentId))
  const done = first ?? (await erase(root, options))
  if (what.all === true && asked.agent === undefined) {
    const asker = { by: actor, commandId: `request:${hex(s.random.bytes(16))}`, ...tracing(options) }
    await eraseAnnotations(s, runId, { code: what.code, reason: what.reason }, asker)
  }
  // Also empty the copies of plans in the data folder.
  await s.plans.empty(runId)
  return done
}

/** The bodies that {@link eraseRun} would erase. Rejects like it. Records nothing. */
export async function erasableOfRun(s: Services, runId: string, asked: AskedErasure) {
  const { what, options } = asked
  const found = []
  for (const agentId of await agentsToErase(s, runId, asked))
    found.push(await erasableBodies(s, agentId, what, found.length === 0 ? options : ofOther(options, agentId)))
  const bodies = found.flatMap(({ agentId, bodies }) => bodies.map((body) => ({ agentId, ...body })))
  return { ...found[0]!, bodies }
}

const MAX_FACTS = 500

/**
 * The ids of facts that the run's agents saved with `remember`. An erasure of the run does not erase them. Null: the
 * erasure concerns one agent.
 */
export async function factsOfRun(s: Pick<Services, 'read'>, runId: string, { agent, what }: AskedErasure) {
  if (agent !== undefined || what.all !== true) return null
  await s.read.current()
  const { value } = await s.read.rows((db) => selectMemories(db, { runId, limit: MAX_FACTS }))
  return value.map(({ id }) => id)
}

async function agentsToErase(s: Services, runId: string, { agent, what }: AskedErasure): Promise<readonly string[]> {
  if (agent !== undefined) return [agent]
  return what.all === true ? agentsOf(s, runId) : [runId]
}

/** The expected revision is that of the first agent, and a key identifies a single command. */
const ofOther = ({ expectedRevision: _, key, ...rest }: RequestOptions, agentId: string): RequestOptions => ({
  ...rest,
  ...(key === undefined ? {} : { key: `${key} ${agentId}` }),
})

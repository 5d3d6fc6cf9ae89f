import { claimKey } from '../../../domain/agent/runtime/claim-idempotency-key.ts'
import type { ErasureChoice } from '../../../domain/agent/runtime/types.ts'
import type { Actor } from '../../../domain/log/envelope.ts'
import { hex } from '../../../domain/log/ids.ts'
import type { ErasureReason } from '../../../domain/stream/runtime/erasure/types.ts'
import { selectMemories } from '../../../projections/index.ts'
import { erasableAnnotations, eraseAnnotations } from '../annotation/annotations.ts'
import type { Services } from '../services.ts'
import { agentsOf } from './agents-of.ts'
import { erasableBodies, mustWrite, recordCommand } from './record-command.ts'
import type { RequestOptions } from './request-options.ts'
import { actorOf, tracing } from './request-options.ts'

/** The bodies to erase. `agent` absent: those of the root agent, or with `all` those of every agent of the run. */
export interface AskedErasure {
  readonly agent?: string | undefined
  readonly what: ErasureChoice & ErasureReason
  readonly by: string | undefined
  /** Who erases; absent: the person of the request. */
  readonly actor?: Actor
  /** Leave the tags and notes of the run. */
  readonly keepAnnotations?: true
  readonly options: RequestOptions
}

/**
 * Erases bodies of one agent, or of all agents of a run one by one with the run's tags and notes. Returns the answer of
 * the root agent or of `agent`. If an agent has not finished, or a hold keeps an agent or the tags and notes, rejects
 * before anything is erased.
 */
export async function eraseRun(s: Services, runId: string, asked: AskedErasure) {
  const { what, by, options, actor = actorOf('user', by, options) } = asked
  mustWrite(s)
  const agents = await agentsToErase(s, runId, asked)
  const texts = isWhole(asked) ? await erasableAnnotations(s, runId, actor) : null
  if (agents.length > 1 || texts !== null) for (const agentId of agents) await s.runtime.erasable(agentId, what)
  const erase = (agentId: string, own: RequestOptions) =>
    recordCommand(s, { agentId, command: { kind: 'erase', ...what }, actor, options: own, drive: 'no' })
  const [root = '', ...others] = agents
  // The tags and notes go before the root, so a key of another request must refuse before them.
  if (texts !== null && options.key !== undefined)
    await claimKey(s, options.key, { agent: root, command: { kind: 'erase', ...what } })
  // The root comes last: an erased root means that the whole run is erased, also after a crash in between. With an
  // expected revision it comes first, because it refuses another revision before anything is erased.
  const first = options.expectedRevision === undefined ? null : await erase(root, options)
  for (const agentId of others) await erase(agentId, ofOther(options, agentId))
  if (texts !== null) {
    const asker = { by: actor, commandId: `request:${hex(s.random.bytes(16))}`, ...tracing(options) }
    await eraseAnnotations(s, runId, { code: what.code, reason: what.reason }, asker)
  }
  const done = first ?? (await erase(root, options))
  // Also empty the copies of plans in the data folder.
  await s.plans.empty(runId)
  return done
}

/** The bodies that {@link eraseRun} would erase. Rejects like it. Records nothing. */
export async function erasableOfRun(s: Services, runId: string, asked: AskedErasure) {
  const { what, by, options, actor = actorOf('user', by, options) } = asked
  const texts = isWhole(asked) ? await erasableAnnotations(s, runId, actor) : null
  const found = []
  for (const agentId of await agentsToErase(s, runId, asked))
    found.push(await erasableBodies(s, agentId, what, found.length === 0 ? options : ofOther(options, agentId)))
  const bodies = found.flatMap(({ agentId, bodies }) => bodies.map((body) => ({ agentId, ...body })))
  return { ...found[0]!, bodies, ...(texts !== null && { annotations: texts.length }) }
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

/** Whether the erasure covers the tags and notes of the run. */
const isWhole = ({ agent, what, keepAnnotations }: AskedErasure): boolean =>
  agent === undefined && what.all === true && keepAnnotations !== true

async function agentsToErase(s: Services, runId: string, { agent, what }: AskedErasure): Promise<readonly string[]> {
  if (agent !== undefined) return [agent]
  return what.all === true ? agentsOf(s, runId) : [runId]
}

/** The expected revision is that of the first agent, and a key identifies a single command. */
const ofOther = ({ expectedRevision: _, key, ...rest }: RequestOptions, agentId: string): RequestOptions => ({
  ...rest,
  ...(key === undefined ? {} : { key: `${key} ${agentId}` }),
})

import { history } from '../../../domain/agent/runtime/history/history.ts'
import { rebuildRequests } from '../../../domain/agent/runtime/history/rebuild-request.ts'
import { agentAt } from '../../../domain/agent/runtime/history/replay.ts'
import { verifyAgent } from '../../../domain/agent/runtime/history/verify.ts'
import { AGENT_FOLD, digestOf } from '../../../domain/agent/state/digest.ts'
import { evolveAgent } from '../../../domain/agent/state/evolve.ts'
import type { AgentState } from '../../../domain/agent/state/state.ts'
import { ASSEMBLER } from '../../../domain/agent/window/request.ts'
import type { Message } from '../../../domain/calls/content.ts'
import { CommandRejected } from '../../../domain/calls/errors.ts'
import { external } from '../../../domain/external/aggregate.ts'
import type { ExternalState } from '../../../domain/external/state.ts'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import { agentStream, sha256 } from '../../../domain/log/ids.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { history as streamHistory } from '../../../domain/stream/runtime/history.ts'
import { ROW_MEANING } from '../../../projections/engine/schema/migrations.ts'

interface Stores {
  readonly log: EventLog
  readonly blobs: BlobStore
}

/** The versions that the expectations of a history depend on. Raising one invalidates older expectations. */
export const MEANINGS = { fold: AGENT_FOLD, assembler: ASSEMBLER, meaning: ROW_MEANING } as const

/**
 * The agents of a log as this program folds them: proofs, digests at every step, messages and requests; external agents
 * too.
 */
export async function toldOf(stores: Stores) {
  const agents: Record<string, Awaited<ReturnType<typeof agentOf>>> = {}
  for await (const page of stores.log.streams('agent-'))
    for (const stream of page)
      agents[stream.replace('agent-', '')] = await agentOf(stores, stream.replace('agent-', ''))
  for await (const page of stores.log.streams('external-'))
    for (const stream of page) agents[stream] = await otherOf(stores, stream)
  return agents
}

/** A run of an external agent, without requests and messages of ours. */
async function otherOf(stores: Stores, stream: string): Promise<Awaited<ReturnType<typeof agentOf>>> {
  const digests: string[] = []
  let state: ExternalState | null = null
  for await (const page of streamHistory(stores, external, stream))
    for (const { event } of page) {
      state = external.evolve(state, event)
      digests.push(external.digest(state))
    }
  const proof = await verifyAgent(stores, stream.replace('external-', ''))
  return { proof, machine: JSON.stringify(state) as never, digests, requests: {}, messages: [] }
}

async function agentOf(stores: Stores, agentId: string) {
  const digests: string[] = []
  const asked = new Set<number>()
  let state: AgentState | null = null
  for await (const page of history(stores, agentId)) {
    for (const { event, recorded } of page) {
      state = evolveAgent(state, event)
      // Inherited events of a fork are listed with its source.
      if (recorded.header.stream !== agentStream(agentId)) continue
      digests.push(digestOf(state))
      if (event.type === 'model_call_start') asked.add(event.turn)
    }
  }
  const requests: Record<string, string[]> = {}
  for (const turn of asked) requests[`turn ${turn}`] = await requestsOf(stores, agentId, turn)
  const messages = (await agentAt(stores, agentId, null)).messages.map(brief)
  return { proof: await verifyAgent(stores, agentId), machine: state!.machine, digests, requests, messages }
}

/** Replaces long texts with a hash; the history contains the texts. */
const brief = (message: Message) =>
  JSON.parse(JSON.stringify(message), (_, value) =>
    typeof value === 'string' && value.length > 1_000 ? `${value.length} characters ${sha256(value)}` : value,
  ) as unknown

/** Hashes of the requests to the model, per attempt; or why they cannot be rebuilt. */
async function requestsOf(stores: Stores, agentId: string, turn: number): Promise<string[]> {
  try {
    const rebuilt = await rebuildRequests(stores, agentId, turn)
    return rebuilt.map(({ request }) => sha256(canonicalBytes(request)))
  } catch (error) {
    if (error instanceof CommandRejected) return [error.code]
    throw error
  }
}

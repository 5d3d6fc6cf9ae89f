import { CommandRejected } from '../../../calls/errors.ts'
import type { ModelRequest } from '../../../ports/index.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import { yielder } from '../../../stream/runtime/yield-to-event-loop.ts'
import type { BodyOf } from '../../events/events.ts'
import { evolveAgent } from '../../state/evolve.ts'
import type { AgentState } from '../../state/state.ts'
import { Transcript } from '../../state/transcript.ts'
import { assemblerOf, inputsHash, requestInputs } from '../../window/request.ts'
import { history } from './history.ts'

/** A model request rebuilt from the log. `attempt` counts from 1. */
export interface RebuiltRequest {
  readonly attempt: number
  /** The revision of its intent. */
  readonly revision: number
  readonly request: ModelRequest
  /** The recorded description of the sent request. Its input hash equals that of the rebuilt request. */
  readonly recorded: BodyOf<'model_call_start'>['request']
}

/** A request of any turn. `fault`: why it cannot be rebuilt. */
export type RecordedRequest = Omit<RebuiltRequest, 'request'> & { readonly turn: number } & (
    | { readonly request: ModelRequest; readonly fault: null }
    | { readonly request: null; readonly fault: string }
  )

/**
 * The requests of one turn's model calls, exactly as sent, one per attempt. Turn 0: the requests for summaries. Rejects
 * with REQUEST_NOT_REBUILDABLE if another assembler version made a request, an earlier body was erased, or the rebuilt
 * inputs differ from the recorded hash. Rejects with POINT_UNKNOWN if the turn made no model call.
 */
export async function rebuildRequests(stores: Stores, agentId: string, turn: number): Promise<RebuiltRequest[]> {
  const found: RebuiltRequest[] = []
  for await (const { turn: _, request, fault, ...one } of recordedRequests(stores, agentId, turn)) {
    if (fault !== null) throw notRebuildable(agentId, turn, fault)
    found.push({ ...one, request })
  }
  if (found.length > 0) return found
  throw new CommandRejected('POINT_UNKNOWN', `${agentId} made no model call in turn ${turn}`)
}

/** The requests of all model calls, or of one turn, in one pass over the history. */
export async function* recordedRequests(
  stores: Stores,
  agentId: string,
  turn: number | null = null,
): AsyncGenerator<RecordedRequest> {
  const transcript = new Transcript()
  let state: AgentState | null = null
  let [erased, isFound] = [false, false]
  const yieldToEventLoop = yielder()
  for await (const page of history(stores, agentId)) {
    for (const { event, recorded } of page) {
      await yieldToEventLoop()
      state = evolveAgent(state, event)
      transcript.push(event)
      erased ||= recorded.erased === true
      if (turn !== null && turn > 0 && event.turn > turn && isFound) return
      if (event.type !== 'model_call_start' || (turn !== null && event.turn !== turn)) continue
      isFound = true
      const { attempt, purpose, model, estimate } = event.body
      const { assembler, inputs: sent } = event.body.request
      const inputs = requestInputs(state, { purpose, model, maxOutputTokens: estimate.maxOutput })
      const rebuilt = assemblerOf(assembler)?.(inputs, transcript.messages)
      const one = { turn: event.turn, attempt, revision: event.revision, recorded: event.body.request }
      if (erased) yield { ...one, request: null, fault: 'something that came before it was erased' }
      else if (rebuilt == null) {
        const fault = `assembler ${assembler}, which made it, is not part of this build; use the build that made it`
        yield { ...one, request: null, fault }
      } else if (inputsHash(state.hashSalt, inputs, transcript.rendered.hash) !== sent)
        yield { ...one, request: null, fault: 'its prompt, tools or messages come out different here' }
      else yield { ...one, request: rebuilt, fault: null }
    }
  }
}

const notRebuildable = (agentId: string, turn: number, why: string) =>
  new CommandRejected(
    'REQUEST_NOT_REBUILDABLE',
    `the request of ${agentId} in turn ${turn} cannot be rebuilt with this build: ${why}`,
  )

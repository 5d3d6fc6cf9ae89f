import { CommandRejected } from '../../agent/errors.ts'
import type { BodyOf } from '../../agent/events/events.ts'
import { ASSEMBLER, assemble, measuredParameters } from '../../agent/rules/request.ts'
import { modelInfo } from '../../agent/rules/routing.ts'
import { evolve } from '../../agent/state/evolve.ts'
import { Transcript } from '../../agent/state/messages.ts'
import type { AgentState } from '../../agent/state/state.ts'
import type { ModelRequest } from '../../ports.ts'
import { yielder } from '../yield-to-event-loop.ts'
import type { Stores } from './bodies.ts'
import { history } from './history.ts'

/** What a model was asked, put together again from the log. */
export interface RebuiltRequest {
  readonly attempt: number
  /** The revision of its intent. */
  readonly revision: number
  readonly request: ModelRequest
  /** What the log says of the request as it was sent; the rebuilt one has the same hashes. */
  readonly recorded: BodyOf<'model_call_start'>['request']
}

/**
 * The requests of one turn's model calls, an entry per attempt, exactly as they were sent (CONTRACTS 7: a request is not
 * stored but rebuilt). Rejects with `REQUEST_NOT_REBUILDABLE` where another version of the assembler made it, or where
 * what this build makes is not what was recorded, and with `POINT_UNKNOWN` where the turn made no model call.
 */
export async function rebuildRequests(stores: Stores, agentId: string, turn: number): Promise<RebuiltRequest[]> {
  const found: RebuiltRequest[] = []
  const transcript = new Transcript()
  let state: AgentState | null = null
  let erased = false
  const yieldToEventLoop = yielder()
  for await (const page of history(stores, agentId)) {
    for (const { event, recorded } of page) {
      await yieldToEventLoop()
      state = evolve(state, event)
      transcript.push(event)
      erased ||= recorded.erased === true
      if (event.turn > turn && found.length > 0) return found
      if (event.type !== 'model_call_start' || event.turn !== turn) continue
      const { attempt, model, request, estimate } = event.body
      check(state, agentId, turn, model, request, erased, transcript.rendered.hash)
      const messages = [...transcript.messages]
      const rebuilt = assemble(state, modelInfo(state, model), messages, estimate.maxOutput)
      found.push({ attempt, revision: event.revision, request: rebuilt, recorded: request })
    }
  }
  if (found.length > 0) return found
  throw new CommandRejected('POINT_UNKNOWN', `${agentId} made no model call in turn ${turn}`)
}

/** The recorded root and hash must be those of what this build puts together. */
function check(
  state: AgentState,
  agentId: string,
  turn: number,
  model: string,
  recorded: BodyOf<'model_call_start'>['request'],
  erased: boolean,
  rendered: string,
): void {
  const cannot = (why: string) =>
    new CommandRejected(
      'REQUEST_NOT_REBUILDABLE',
      `the request of ${agentId} in turn ${turn} cannot be rebuilt with this build: ${why}`,
    )
  if (erased) throw cannot('something that came before it was erased')
  if (recorded.assembler !== ASSEMBLER)
    throw cannot(`it was made by assembler ${recorded.assembler}, this is ${ASSEMBLER}`)
  if (measuredParameters(state, modelInfo(state, model)).hash !== recorded.parameters) {
    throw cannot('its prompt, tools or settings come out different here')
  }
  if (state.messages.hash !== recorded.root || state.messages.count !== recorded.to) {
    throw cannot('its messages come out different here')
  }
  if (rendered !== recorded.rendered) throw cannot('its messages are worded otherwise here')
}

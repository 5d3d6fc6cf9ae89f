import type { Call } from '../../../calls/call.ts'
import type { Message } from '../../../calls/content.ts'
import { callArguments, textOf } from '../../../calls/requested-calls.ts'
import { withWhole } from '../../../calls/runtime/whole-result.ts'
import { agentStream } from '../../../log/ids.ts'
import type { JsonObject } from '../../../log/json.ts'
import { idOf } from '../../../log/owner.ts'
import type { Environment, RuntimePorts } from '../../../ports/runtime.ts'
import { damageIn } from '../../../stream/runtime/damage.ts'
import { controlToolNamed } from '../../control/registry.ts'
import type { OutcomeCommand } from '../../decide/commands.ts'
import type { CallOfRecord, LeaveRecord } from '../../decide/reuse-commands.ts'
import type { EventOf } from '../../events/events.ts'
import { followsRecord } from '../../state/reuse-rules.ts'
import type { AgentState } from '../../state/state.ts'
import { requestDifferences } from '../../window/same-request.ts'
import { firstAgentEvent } from '../history/history.ts'
import { type CallInRecord, type RecordedOutcome, RecordReader } from '../history/recorded-outcomes.ts'
import { resultAt } from '../history/results.ts'
import { requestOf, resolvedPaths } from './perform-model.ts'
import { putBack } from './put-back.ts'

/**
 * Supplies recorded outcomes while a fork follows its record (seed 000, 5.9). An effect with the recorded request gets
 * the recorded outcome, and is neither performed nor billed.
 */
export class ReusedOutcomes {
  private readonly ports: RuntimePorts
  private readonly env: Environment
  private record: { readonly reader: RecordReader; readonly ids: readonly string[] } | null = null

  constructor(ports: RuntimePorts, env: Environment) {
    this.ports = ports
    this.env = env
  }

  /**
   * The recorded outcome of the open model call, or why the fork leaves the record; null: the record is not followed.
   */
  async model(
    state: AgentState,
    messages: readonly Message[],
    { attempt, turn }: { readonly attempt: number; readonly turn: number },
  ): Promise<OutcomeCommand | null> {
    const { reuse } = state
    if (!reuse || !followsRecord(state)) return null
    const left = (reason: string, differs: readonly string[] = []): LeaveRecord => ({
      ...{ kind: 'reuse_left', turn, toolCallId: null, reason, differs },
    })
    try {
      const { reader, ids } = await this.opened(state, reuse.stream)
      const next = await reader.following(reuse.after)
      if (next === null) return left('the record has no further answer of a model')
      const { place: recorded, request, erased } = next
      if (request === null) return { ...left('this build cannot make the recorded request again'), recorded }
      const differs = requestDifferences(requestOf(state, messages, turn), request, ids)
      if (differs.length > 0) return { ...left('the request to the model is not the recorded one', differs), recorded }
      if (erased) return { ...left('what was recorded there was erased'), recorded }
      return await this.outcomeOf(next, state, attempt)
    } catch (error) {
      if (damageIn(error) === null) throw error
      return left('the record cannot be read')
    }
  }

  /** The recorded outcome of a call that was started to copy it, or why it cannot be copied. */
  async tool(state: AgentState, answer: EventOf<'model_call_end'>, call: Call): Promise<OutcomeCommand> {
    const about = { toolCallId: call.id, toolName: call.toolName, attempt: call.attempt }
    const left = (reason: string): LeaveRecord => ({
      ...{ kind: 'reuse_left', turn: state.turn, toolCallId: call.id, reason, differs: [] },
      ...(call.recorded && { recorded: call.recorded }),
    })
    const started = this.ports.clock.now()
    try {
      const found = await this.callInRecord(state, call)
      if (found === null) return left('its outcome is not in the record any more')
      if (found.tree !== null && state.spec.workspace !== null) {
        const why = await putBack(this.env, state, call, found.tree)
        if (why !== null) return left(why)
        await this.ports.crashPoint?.('after_snapshot')
      }
      const { event, place } = found
      if (event.type === 'tool_call_unknown')
        return { kind: 'tool_in_doubt', ...about, reason: event.body.reason, reused: place }
      const durationMs = Math.max(0, Math.round(this.ports.clock.now() - started))
      const control = findingsOf(state, answer, call, found)
      if (control !== null)
        return { kind: 'tool_succeeded', ...about, durationMs, result: { content: null }, control, reused: place }
      return await this.endOf({ kind: 'tool_reused', ...about, durationMs, place }, call, { ...found, event })
    } catch (error) {
      if (damageIn(error) === null) throw error
      return left('its outcome cannot be read')
    }
  }

  private async opened(state: AgentState, stream: string) {
    if (this.record !== null) return this.record
    const { agentId } = state
    const lineage: string[] = []
    let after = ''
    for (let at: string | null = agentStream(agentId); at !== null; ) {
      lineage.push(idOf(at))
      const first = await firstAgentEvent(this.ports, at)
      if (after === '' && first?.type === 'forked') after = first.body.hash
      at = first?.type === 'forked' ? first.body.stream : null
    }
    const ids = [...new Set([...lineage, idOf(stream)])]
    this.record = { reader: new RecordReader(this.ports, stream, after), ids }
    return this.record
  }

  private async outcomeOf(
    { place, outcome }: RecordedOutcome,
    state: AgentState,
    attempt: number,
  ): Promise<OutcomeCommand> {
    const { runId, agentId, turn } = state
    if (outcome.kind === 'failure') {
      const { code, error: message } = outcome.event.body
      const error = { code, message, transient: outcome.next === 'again' }
      return { kind: 'model_failed', turn, attempt, error, reused: { place, next: outcome.next } }
    }
    const { content, stopReason, servedBy, requestId, cut, usage, cached, reused, inputEstimate } = outcome.event.body
    const text = textOf(content)
    if (text !== '') this.ports.feed.publish({ runId, agentId, turn, kind: 'text', text })
    const named = { ...(requestId === undefined ? {} : { requestId }), ...(cut === undefined ? {} : { cut }) }
    const answer = { content, stopReason, servedBy, usage: NO_USAGE, ...named }
    return {
      ...{ kind: 'model_answered', turn, attempt, durationMs: 0, outcome: answer },
      paths: await resolvedPaths(this.env, state, answer),
      ...(inputEstimate === undefined ? {} : { inputEstimate }),
      reused: {
        place,
        usage: reused?.usage ?? cached ?? usage,
        calls: outcome.calls.map(
          (call) =>
            call && {
              ...{
                place: call.place,
                toolName: call.toolName,
                argumentsHash: call.argumentsHash,
                refused: call.refused,
              },
            },
        ),
      },
    }
  }

  private async callInRecord(state: AgentState, { index, recorded }: Call): Promise<CallInRecord | null> {
    const { reuse } = state
    if (!reuse?.after || recorded === undefined) return null
    const { reader } = await this.opened(state, reuse.stream)
    const found = await reader.at(reuse.after)
    const call = found?.outcome.kind === 'answer' ? (found.outcome.calls[index] ?? null) : null
    return call?.place.revision === recorded.revision && call.place.stream === recorded.stream ? call : null
  }

  /** Stores a long result again as the fork's own. Its note on how to read on refers to the fork's call. */
  private async endOf(
    fact: Omit<CallOfRecord, 'end' | 'tree' | 'artifacts'>,
    call: Call,
    { event, recorded, toolCallId, tree, parts: about }: CallInRecord & { event: EventOf<'tool_call_end'> },
  ): Promise<CallOfRecord> {
    const { step: _, attempt: __, durationMs: ___, reused: ____, attachment, result, ...rest } = event.body
    const renamed = (text: string) => text.replaceAll(toolCallId, call.id)
    const own = result === undefined ? {} : { result: JSON.parse(renamed(JSON.stringify(result))) }
    const end = { ...rest, ...own }
    const artifacts = about.flatMap((part) => {
      if (part.type !== 'child_artifact') return []
      const { argumentsRef: _, ...artifact } = part.body.artifact
      return [artifact]
    })
    if (attachment === undefined) return { ...fact, end, tree, artifacts }
    const whole = await resultAt(this.ports, recorded)
    const parts: Uint8Array[] = []
    for await (const part of whole.parts(0, whole.size)) parts.push(part)
    const stored = await withWhole(this.ports, this.env.secrets, { content: own.result, whole: parts }, undefined)
    return { ...fact, end, tree, artifacts, ...(stored.attached && { attached: stored.attached }) }
  }
}

const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/**
 * The recorded findings for a control call. The call is decided again, so that its events refer to the fork's own ids.
 * Null: only the recorded end is copied.
 */
function findingsOf(
  state: AgentState,
  { body }: EventOf<'model_call_end'>,
  call: Call,
  { event, parts, toolCallId }: CallInRecord,
) {
  const tool = controlToolNamed(call.toolName)
  const kind = tool?.spec.control
  if (tool === undefined || event.type !== 'tool_call_end' || kind === 'delegates') return null
  const gates = parts.flatMap((part) => (part.type === 'gate_checked' ? [part.body] : []))
  if (!event.body.success && gates.length === 0) return null
  const block = body.content[body.calls[call.index]?.block ?? -1]
  const input = tool.schema.parse((block && callArguments(block)) as JsonObject)
  const { artifacts: written = [], ...asked } = tool.examine?.(state, call, input) ?? {}
  // The recorded end already contains text that was read, and the answer of the memory.
  if (asked.memory !== undefined || asked.turns !== undefined || asked.part !== undefined) return null
  const files = parts.flatMap((part) => {
    if (part.type !== 'artifact_registered' || part.body.artifact.argumentsRef !== undefined) return []
    const { artifact } = part.body
    return [{ ...artifact, id: artifact.id.replace(toolCallId, call.id) }]
  })
  return { input, findings: { artifacts: [...written, ...files], gates, text: null } }
}

import type { Block } from '../../../domain/calls/content.ts'
import { type PlannedCall, type SentSecret, sentSecrets } from '../../../domain/calls/events/event-parts.ts'
import { callArguments } from '../../../domain/calls/requested-calls.ts'
import { externalStream } from '../../../domain/log/ids.ts'
import type { Json, JsonObject } from '../../../domain/log/json.ts'
import { ProjectionError } from '../../engine/errors.ts'
import { bodyBytes } from '../../engine/projector/body.ts'
import { type EventSources, readEvent } from '../../engine/queries/events.ts'
import type { ApprovalWithArguments } from './approvals.ts'

/**
 * The arguments of a call, from the model's answer that requested it (`requested_revision` and `block` of its row);
 * null: unknown, not a JSON object, or erased.
 */
export async function argumentsOf(
  sources: EventSources,
  agentId: string | null,
  revision: number | null,
  block: number | null,
): Promise<JsonObject | null> {
  if (agentId === null || revision === null || block === null) return null
  // The tables may contain events that the log has lost.
  const event = await readEvent(sources, agentId, revision).catch(unlessFound)
  if (event === null) return null
  const asked = event.type === 'model_call_end' ? event.body?.content[block] : undefined
  return asked ? callArguments(asked) : null
}

/** The subject of an approval, and the secrets that the call would send. */
export interface ApprovalSubject {
  readonly arguments: JsonObject | null
  readonly secrets: readonly SentSecret[]
}

/** The subject of an approval: the arguments of its call, or the permission that an external agent asks for. */
export async function approvalSubject(sources: EventSources, row: ApprovalWithArguments): Promise<ApprovalSubject> {
  const { agent_id: agentId, call_requested_revision: revision, block } = row
  const answer = revision === null ? null : await readEvent(sources, agentId, revision).catch(unlessFound)
  const found = answer?.type === 'model_call_end' ? answer.body : null
  const asked = block === null ? undefined : found?.content[block]
  if (asked !== undefined)
    return { arguments: callArguments(asked), secrets: secretsOf(found?.calls.find((call) => call.block === block)) }
  const outside = await outsideCall(sources, agentId, revision ?? row.requested_revision)
  return { arguments: outside?.input ?? null, secrets: secretsOf(outside?.planned) }
}

const secretsOf = (planned: PlannedCall | undefined) => (planned === undefined ? [] : sentSecrets(planned))

/**
 * The input of an external agent's permission request, or of its call to a keepup tool, from the event that records it;
 * null: erased, or another type of event.
 */
export const outsideInput = async (
  sources: EventSources,
  agentId: string,
  revision: number | null,
): Promise<JsonObject | null> => (await outsideCall(sources, agentId, revision))?.input ?? null

async function outsideCall(
  sources: EventSources,
  agentId: string,
  revision: number | null,
): Promise<{ readonly input: JsonObject; readonly planned?: PlannedCall } | null> {
  if (revision === null) return null
  for await (const [event] of sources.log.read(externalStream(agentId), { from: revision, limit: 1 })) {
    if (event === undefined || !ASKING.has(event.header.type)) return null
    const bytes = await bodyBytes(event, sources)
    if (bytes === null || 'poison' in bytes) return null
    const body = JSON.parse(new TextDecoder().decode(bytes)) as {
      readonly input?: Json
      readonly content?: [Block]
      readonly calls?: [PlannedCall]
    }
    const given = body.content === undefined ? (body.input ?? null) : callArguments(body.content[0])
    const isObject = given !== null && typeof given === 'object' && !Array.isArray(given)
    const input = isObject ? (given as JsonObject) : { input: given }
    return { input, ...(body.calls && { planned: body.calls[0] }) }
  }
  return null
}

/** Events in which an external agent asks for something. */
const ASKING: ReadonlySet<string> = new Set(['permission_requested', 'tool_call_requested'])

const unlessFound = (error: unknown): null => {
  if (error instanceof ProjectionError && error.code === 'NOT_FOUND') return null
  throw error
}

import { take } from '../../http/answers.ts'
import type { Role } from '../../operations/definitions/schemas.ts'
import { api } from '../client/api.ts'
import { type Draft, draftOf, draftOfOther, type Settings } from './draft.ts'

/** The first events of a run contain its settings, its task and the standing approvals of its start. */
const FIRST = '20'

/**
 * The draft that starts a run again. A fork has the settings of its source, and its own model. Rejects where the
 * settings were erased.
 */
export async function draftFrom(runId: string, tools: readonly string[], roles: readonly Role[]): Promise<Draft> {
  const { events } = await take(api.v1.agents[':id'].events.$get({ param: { id: runId }, query: { limit: FIRST } }))
  const first = events[0]
  const body = first?.payload as Record<string, unknown> | null | undefined
  if (body == null) throw new Error('the settings of this run were erased; fill the form anew')
  if (first!.type === 'forked') {
    const { stream, changes } = body as { stream: string; changes?: { model?: string } }
    const source = await draftFrom(stream.slice(stream.indexOf('-') + 1), tools, roles)
    return changes?.model === undefined ? source : { ...source, model: changes.model }
  }
  if (first!.type === 'external_started')
    return draftOfOther(body.backend as string, body.request as Parameters<typeof draftOfOther>[1])
  const of = (type: string) => events.flatMap((event) => (event.type === type ? [event.payload as object | null] : []))
  const [task = null] = of('user_input')
  const approved = of('standing_approval').flatMap((one) => (one as { tools?: string[] } | null)?.tools ?? [])
  const settings = { task: (task as { text?: string } | null)?.text ?? null, spec: body.spec as Settings['spec'] }
  return draftOf({ ...settings, approved }, tools, roles)
}

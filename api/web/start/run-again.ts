import type { RecordedRequest } from '../../../domain/external/events.ts'
import type { AgentSpec } from '../../../domain/tree/spec.ts'
import { take } from '../../http/answers.ts'
import type { Role } from '../../operations/definitions/schemas.ts'
import { api } from '../client/api.ts'
import { type RecordedSettings, settingsOf, settingsOfFork, settingsOfOther } from './recorded-settings.ts'

/** The first events of a run contain its settings, its task and the confinement of another agent. */
const FIRST = '20'

/** The settings of a run. A fork has those of its source, and its own changes. Rejects where they were erased. */
export async function settingsFrom(runId: string, roles: readonly Role[]): Promise<RecordedSettings> {
  const { events } = await take(api.v1.agents[':id'].events.$get({ param: { id: runId }, query: { limit: FIRST } }))
  const first = events[0]
  if (first?.payload == null) throw new Error('the settings of this run were erased; fill the form anew')
  const bodyOf = <T>(type: string) => events.find((event) => event.type === type)?.payload as T | null | undefined
  switch (first.type) {
    case 'forked': {
      const { stream } = first.payload
      return settingsOfFork(await settingsFrom(stream.slice(stream.indexOf('-') + 1), roles), first.payload)
    }
    case 'external_started': {
      const start = bodyOf<{ confinement?: { confined: boolean } }>('process_start')
      return settingsOfOther(
        first.payload.backend,
        first.payload.request as RecordedRequest,
        start?.confinement?.confined === true,
      )
    }
    case 'agent_started':
      return settingsOf(bodyOf<{ text?: string }>('user_input')?.text, first.payload.spec as AgentSpec, roles)
    default:
      throw new Error(`the first event of this run is "${first.type}", which has no settings; fill the form anew`)
  }
}

import type { z } from 'zod'
import { take } from '../../http/answers.ts'
import type { ReportedEdits } from '../../operations/external/schemas.ts'
import type { AgentBriefAtPoint } from '../../operations/history/checkpoint-schemas.ts'
import type { TreeAt } from '../../operations/history/tree-at-schemas.ts'
import { api, errorText } from '../client/api.ts'
import { PositionCache } from './position-cache.ts'

export type Brief = z.infer<typeof AgentBriefAtPoint>

/** States of an agent by revision. The server folds them. */
export type States = PositionCache<Brief>
export const statesOf = (agentId: string): States =>
  new PositionCache((revision) => {
    const query = { event: String(revision) }
    return take(api.v1.agents[':id'].brief.$get({ param: { id: agentId }, query }))
  }, errorText)

/** The state of a run's agents by the revision of one of them. */
export type Trees = PositionCache<TreeAt>
export const treesOf = (runId: string, agentId: string): Trees =>
  new PositionCache((revision) => {
    const query: Record<'agent' | 'event', string> = { agent: agentId, event: String(revision) }
    return take(api.v1.runs[':id'].tree.at.$get({ param: { id: runId }, query }))
  }, errorText)

/** The file edits that an external agent has reported, by the revision of its last report. */
export type Edits = PositionCache<ReportedEdits & { readonly revision: number }>
/** Each answer may contain many patches. */
const MOST_EDITS = 5
export const editsOf = (agentId: string): Edits =>
  new PositionCache(
    async (revision) => {
      const query = { event: String(revision) }
      return { ...(await take(api.v1.agents[':id'].edits.$get({ param: { id: agentId }, query }))), revision }
    },
    errorText,
    MOST_EDITS,
  )

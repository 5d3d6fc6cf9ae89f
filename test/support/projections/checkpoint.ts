import type { Kysely } from 'kysely'
import { history } from '../../../domain/agent/runtime/history/history.ts'
import { PointDetails } from '../../../domain/agent/state/point-details.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { findCheckpoint, usageAt } from '../../../projections/agent/queries/checkpoints.ts'
import type { Database } from '../../../projections/engine/schema/database.ts'

type Sources = { readonly log: EventLog; readonly blobs: BlobStore }

/** A checkpoint without its messages: its row and usage from the tables, the rest from the events of its history. */
export async function checkpointAt(sources: Sources, db: Kysely<Database>, agentId: string, step: number) {
  const row = (await findCheckpoint(db, agentId, step))!
  const details = new PointDetails()
  let sopPhase = ''
  for await (const page of history(sources, row.agent_id, { to: row.revision })) {
    for (const { event, recorded } of page) {
      details.push(event, recorded.erased === true)
      if (event.type === 'agent_started') sopPhase = event.body.spec.role?.phases[0]?.name ?? ''
      if (event.type === 'phase_advanced') sopPhase = event.body.to
    }
  }
  const { contextVariables, ...calls } = details.facts
  return { row, state: { sopPhase, contextVariables }, ...calls, usage: await usageAt(db, row) }
}

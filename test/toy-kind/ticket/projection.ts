import { idOf } from '../../../domain/log/owner.ts'
import { projectionOf } from '../../../projections/engine/changes/projection.ts'
import type { TableSpec } from '../../../projections/engine/schema/columns.ts'
import { ticket } from './kind.ts'

export const ticketTables = {
  tickets: {
    columns: {
      id: 'text!',
      /** Null: erased. */
      title: 'text',
      comments: 'integer!',
      closed_at: 'text',
      revision: 'integer!',
      incomplete_from: 'integer',
    },
    key: ['id'],
    kind: 'ticket',
    owner: 'id',
  },
} as const satisfies Record<string, TableSpec>

export const ticketRows = projectionOf(ticket, ticketTables, ({ header, event }, { put, set }) => {
  const id = idOf(header.stream)
  const { revision } = header
  switch (event?.type) {
    case 'ticket_opened':
      return [put('tickets', { id }, { title: event.body.title, revision })]
    case 'ticket_commented':
      return [set('tickets', { id }, { comments: revision, revision })]
    case 'ticket_closed':
      return [set('tickets', { id }, { closed_at: header.timestamp, revision })]
    default:
      return []
  }
})

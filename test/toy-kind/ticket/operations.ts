import { z } from 'zod'
import { StartHeaders } from '../../../api/operations/headers.ts'
import { operation } from '../../../api/operations/operation.ts'
import { By, Digits, Id, Position } from '../../../api/operations/schemas.ts'
import { recordIn } from '../../../api/operations/streams/record.ts'
import { findRow, listRows } from '../../../projections/index.ts'
import { ticket, unknownTicket } from './kind.ts'
import { ticketTables } from './projection.ts'

const params = z.object({ id: z.string().regex(/^[a-z0-9]{1,40}$/) })
const headers = StartHeaders
const Changed = z.strictObject({ id: z.string(), revision: z.int(), recorded: z.boolean() })
const Ticket = z.strictObject({
  ...{ id: z.string(), title: z.string().nullable(), comments: z.int(), closed_at: z.string().nullable() },
  ...{ revision: z.int(), incomplete_from: z.int().nullable() },
})
const write = { right: 'streams.write', output: Changed, answers: { 200: 'Recorded' } } as const
const read = { right: 'streams.read', awaitsTables: true } as const

export const TICKET_OPERATIONS = [
  operation({
    ...{ name: 'openTicket', http: 'POST /v1/tickets/{id}/open', summary: 'Open a ticket', ...write },
    input: { params, headers, body: z.strictObject({ title: z.string().min(1), by: By.optional() }) },
    run: (s, { params: { id }, body: { title, by } }, caller) =>
      recordIn(s, ticket, id, { kind: 'open', title }, caller, by),
  }),
  operation({
    ...{ name: 'commentTicket', http: 'POST /v1/tickets/{id}/comment', summary: 'Comment on a ticket', ...write },
    input: { params, headers, body: z.strictObject({ text: z.string().min(1), by: By.optional() }) },
    run: (s, { params: { id }, body: { text, by } }, caller) =>
      recordIn(s, ticket, id, { kind: 'comment', text }, caller, by),
  }),
  operation({
    ...{ name: 'closeTicket', http: 'POST /v1/tickets/{id}/close', summary: 'Close a ticket', ...write },
    input: { params, headers, body: z.strictObject({ by: By.optional() }) },
    run: (s, { params: { id }, body: { by } }, caller) => recordIn(s, ticket, id, { kind: 'close' }, caller, by),
  }),
  operation({
    ...{ name: 'getTicket', http: 'GET /v1/tickets/{id}', summary: 'A ticket', ...read },
    input: { params },
    output: Ticket,
    answers: { 200: 'The ticket' },
    async run(s, { params: { id } }) {
      const { value } = await s.read.rows((db) => findRow(db, ticketTables, 'tickets', id))
      if (value === undefined) throw unknownTicket()
      return value
    },
  }),
  operation({
    ...{ name: 'listTickets', http: 'GET /v1/tickets', summary: 'Tickets, in the order of their ids', ...read },
    input: { query: z.strictObject({ after: Id.optional(), limit: Digits.prefault('50') }) },
    output: z.strictObject({ position: Position, tickets: z.array(Ticket).readonly() }),
    answers: { 200: 'A page of tickets' },
    async run(s, { query }) {
      const { position, value } = await s.read.rows((db) => listRows(db, ticketTables, 'tickets', query))
      return { position, tickets: value }
    },
  }),
]

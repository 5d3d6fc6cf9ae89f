import { z } from 'zod'
import { defineKind } from '../../../domain/stream/define-kind.ts'
import { StreamError } from '../../../domain/stream/errors.ts'

// Storage format: the events of `ticket-<id>`. Null: the text was erased.

const Text = z.string().min(1).nullable()

const bodies = {
  ticket_opened: z.strictObject({ title: Text }),
  ticket_commented: z.strictObject({ text: Text }),
  ticket_closed: z.strictObject({}),
} as const

interface TicketState {
  readonly comments: number
  readonly closed: boolean
}

type TicketCommand =
  | { readonly kind: 'open'; readonly title: string }
  | { readonly kind: 'comment'; readonly text: string }
  | { readonly kind: 'close' }

/** A toy: tickets that people open, comment and close. */
export const ticket = defineKind<TicketState, typeof bodies, TicketCommand>({
  kind: 'ticket',
  bodies,
  evolve(state, { type }) {
    if (type === 'ticket_opened') return { comments: 0, closed: false }
    if (state === null || state.closed) throw new Error(`${type} outside of an open ticket`)
    return type === 'ticket_closed' ? { ...state, closed: true } : { ...state, comments: state.comments + 1 }
  },
  decide(state, command, emit) {
    if (command.kind === 'open') {
      if (state !== null) throw new StreamError('TICKET_EXISTS', 'the ticket was opened before; comment on it')
      return emit('ticket_opened', { title: command.title })
    }
    if (state === null) throw unknownTicket()
    if (command.kind === 'close') return state.closed ? undefined : emit('ticket_closed', {})
    if (state.closed) throw new StreamError('TICKET_CLOSED', 'the ticket is closed; open another one')
    emit('ticket_commented', { text: command.text })
  },
  residues: { ticket_opened: () => ({ title: null }), ticket_commented: () => ({ text: null }) },
  ends: ['ticket_closed'],
})

export const unknownTicket = () =>
  new StreamError('TICKET_UNKNOWN', 'there is no such ticket; list the tickets to find it', { why: 'absent' })

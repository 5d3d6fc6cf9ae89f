import type { Actor } from '../../log/envelope.ts'
import { instantText } from '../../log/instant.ts'
import type { Anchor, DocumentEvent, DocumentEventType } from './events.ts'

/** Who wrote something, when, and by which run and call. `at`: ISO 8601. */
export interface Authored {
  readonly revision: number
  readonly at: string
  readonly by: Actor
  readonly runId?: string
  readonly toolCallId?: string
}

/** `text` null: it was erased. */
export interface Reply extends Authored {
  readonly text: string | null
}

interface Base extends Authored {
  readonly id: string
  readonly anchor: Anchor
  readonly replies: readonly Reply[]
}

/** A comment or a suggestion with its replies. Texts are null when they were erased. */
export type Thread =
  | (Base & {
      readonly kind: 'comment'
      readonly text: string | null
      readonly status: 'open' | 'resolved'
      readonly settled?: Authored
    })
  | (Base & {
      readonly kind: 'suggestion'
      readonly replacement: string | null
      readonly reason?: string | undefined
      readonly status: 'open' | 'accepted' | 'refused'
      /** `reason`: of a refusal. */
      readonly settled?: Authored & { readonly reason?: string | null }
    })

/** The events of comments and suggestions. */
export const THREAD_EVENTS = [
  'comment_added',
  'suggestion_made',
  'reply_added',
  'comment_resolved',
  'suggestion_accepted',
  'suggestion_refused',
] as const satisfies readonly DocumentEventType[]

/** The threads with an event applied, in the order in which they were added. Other events change nothing. */
export function foldThread(threads: Map<string, Thread>, event: DocumentEvent): void {
  const authored = authoredOf(event)
  switch (event.type) {
    case 'comment_added': {
      const { comment: id, anchor, text } = event.body
      threads.set(id, { ...authored, id, kind: 'comment', anchor, text, replies: [], status: 'open' })
      return
    }
    case 'suggestion_made': {
      const { suggestion: id, ...body } = event.body
      threads.set(id, { ...authored, id, kind: 'suggestion', ...body, replies: [], status: 'open' })
      return
    }
    case 'reply_added': {
      const found = threads.get(event.body.thread)!
      const reply = { ...authored, text: event.body.text }
      threads.set(found.id, { ...found, replies: [...found.replies, reply] })
      return
    }
    case 'comment_resolved':
      return settle(threads, event.body.comment, { status: 'resolved', settled: authored })
    case 'suggestion_accepted':
      return settle(threads, event.body.suggestion, { status: 'accepted', settled: authored })
    case 'suggestion_refused': {
      const { suggestion, reason } = event.body
      return settle(threads, suggestion, { status: 'refused', settled: { ...authored, reason } })
    }
  }
}

function settle(threads: Map<string, Thread>, id: string, how: Partial<Thread>): void {
  threads.set(id, { ...threads.get(id)!, ...how } as Thread)
}

const authoredOf = ({ revision, at, actor, runId, toolCallId }: DocumentEvent): Authored => ({
  ...{ revision, at: instantText(at), by: actor },
  ...(runId === undefined ? {} : { runId }),
  ...(toolCallId === undefined ? {} : { toolCallId }),
})

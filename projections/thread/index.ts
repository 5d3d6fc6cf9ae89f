import { idOf } from '../../domain/log/owner.ts'
import { thread } from '../../domain/thread/aggregate.ts'
import { projectionOf } from '../engine/changes/projection.ts'
import { actorText } from '../engine/text.ts'
import { threadTables } from './tables.ts'

/** Changes of `threads`. */
export const threadRows = projectionOf(thread, threadTables, ({ header, event }, { put, set }) => {
  const { revision, timestamp: at } = header
  const key = { id: idOf(header.stream) }
  const changed = { updated_at: at, revision }
  switch (event?.type) {
    case 'thread_opened': {
      const made = {
        checkpoint: null,
        created_at: at,
        created_by: actorText(header.actor),
        ...changed,
      }
      return [put('threads', key, { thread: event.body.thread, deleted_at: null }, made)]
    }
    case 'checkpoint_saved':
      return [set('threads', key, { ...changed, checkpoint: event.body.id, deleted_at: null })]
    case 'writes_saved':
      return [set('threads', key, changed)]
    case 'thread_deleted':
      return [set('threads', key, { ...changed, thread: null, checkpoint: null, deleted_at: at })]
    default:
      return []
  }
})

import { annotation } from '../../domain/annotation/aggregate.ts'
import { idOf } from '../../domain/log/owner.ts'
import { projectionOf } from '../engine/changes/projection.ts'
import { actorText } from '../engine/text.ts'
import { annotationTables } from './tables.ts'

/** Converts the tags and notes of a run to rows. */
export const annotationRows = projectionOf(annotation, annotationTables, ({ header, event }, { put, remove }) => {
  const { stream, revision, timestamp: at, actor } = header
  const key = { run_id: idOf(stream), revision }
  const changed = put('run_annotations', { run_id: key.run_id }, { revision, updated_at: at })
  const from = { by: actorText(actor), claimed: actor.claimed ? 1 : 0, at }
  switch (event?.type) {
    case 'tag_added':
      return event.body.tag === null ? [changed] : [changed, put('run_tags', key, { tag: event.body.tag, ...from })]
    case 'note_added':
      return event.body.text === null ? [changed] : [changed, put('run_notes', key, { text: event.body.text, ...from })]
    case 'tag_removed':
      return [changed, remove('run_tags', { ...key, revision: event.body.added })]
    case 'note_removed':
      return [changed, remove('run_notes', { ...key, revision: event.body.added })]
    default:
      return []
  }
})

import { listTags } from '../../../projections/index.ts'
import { mustHave } from '../access/identity.ts'
import { StartHeaders } from '../headers.ts'
import { operation } from '../operation.ts'
import { annotate, listNotes, removeNote } from './annotations.ts'
import * as schema from './schemas.ts'

const MOST_TAGS_LISTED = 500

const change = {
  right: 'runs.steer',
  output: schema.AnnotationChanged,
  answers: { 200: 'Recorded' },
} as const
const headers = StartHeaders
const params = schema.RunParam

/** Tags and notes on runs. A change never wakes a run, and a run that has ended accepts it. */
export const ANNOTATION_OPERATIONS = [
  operation({
    name: 'listTags',
    http: 'GET /v1/tags',
    right: 'bodies.read',
    summary: 'The tags of all runs, the most frequent first',
    input: {},
    output: schema.TagList,
    answers: { 200: 'At most 500 tags' },
    awaitsTables: true,
    async run(s) {
      const { position, value } = await s.read.rows((db) => listTags(db, MOST_TAGS_LISTED))
      return { position, tags: value }
    },
  }),
  operation({
    ...change,
    name: 'addTag',
    http: 'POST /v1/runs/{id}/tags',
    summary: 'Add a tag to a run',
    input: { params, headers, body: schema.ChangeTag },
    run: (s, { params, body: { tag, by } }, caller) => annotate(s, params.id, { kind: 'add_tag', tag }, caller, by),
  }),
  operation({
    ...change,
    name: 'removeTag',
    http: 'POST /v1/runs/{id}/tags/remove',
    summary: 'Remove a tag from a run',
    input: { params, headers, body: schema.ChangeTag },
    run: (s, { params, body: { tag, by } }, caller) => annotate(s, params.id, { kind: 'remove_tag', tag }, caller, by),
  }),
  operation({
    name: 'listNotes',
    http: 'GET /v1/runs/{id}/notes',
    right: 'bodies.read',
    summary: 'The notes on a run, oldest first',
    input: { params },
    output: schema.NoteList,
    answers: { 200: 'The notes' },
    awaitsTables: true,
    run: (s, { params }) => listNotes(s, params.id),
  }),
  operation({
    ...change,
    name: 'addNote',
    http: 'POST /v1/runs/{id}/notes',
    summary: 'Write a note on a run',
    input: { params, headers, body: schema.AddNote },
    run: (s, { params, body: { text, by } }, caller) => annotate(s, params.id, { kind: 'add_note', text }, caller, by),
  }),
  operation({
    ...change,
    name: 'removeNote',
    http: 'POST /v1/runs/{id}/notes/{note}/remove',
    summary: 'Remove a note from a run; with "erase", also empty its text in the log for ever',
    input: { params: schema.NoteParam, headers, body: schema.RemoveNote },
    run: (s, { params: { id, note }, body }, caller) => {
      const { identity } = caller.options
      if (body.erase && identity !== undefined)
        mustHave(s, identity, 'runs.erase', { operation: 'removeNote', run: id })
      return removeNote(s, id, note, body, caller)
    },
  }),
] as const

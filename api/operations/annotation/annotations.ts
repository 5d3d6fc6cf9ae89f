import { type AnnotationCommand, annotation } from '../../../domain/annotation/aggregate.ts'
import { noteUnknown } from '../../../domain/annotation/errors.ts'
import { annotationStream } from '../../../domain/annotation/limits.ts'
import type { Actor } from '../../../domain/log/envelope.ts'
import type { Asker, ErasableBody, ErasureReason } from '../../../domain/stream/runtime/erasure/types.ts'
import { notesOf } from '../../../projections/index.ts'
import type { OperationCaller } from '../operation.ts'
import { untilShown } from '../runs/idempotency.ts'
import { mustWrite } from '../runs/record-command.ts'
import { actorOf } from '../runs/request-options.ts'
import { mustBeRun } from '../runs/run-of-agent.ts'
import type { Services } from '../services.ts'
import { askerOf, recordIn } from '../streams/record.ts'
import type { RemoveNote } from './schemas.ts'

/** Records a change of a run's tags or notes. Rejects with NOT_FOUND for an unknown run. */
export async function annotate(
  s: Services,
  runId: string,
  command: AnnotationCommand,
  caller: OperationCaller,
  by: string | undefined,
) {
  await mustBeRun(s, runId)
  const { revision, recorded } = await recordIn(s, annotation, runId, command, caller, by)
  return { runId, revision, recorded }
}

/** Removes a note, and erases its text on request. An erasure of a note that was removed before is allowed. */
export async function removeNote(
  s: Services,
  runId: string,
  note: number,
  { erase, code, reason, by }: RemoveNote,
  caller: OperationCaller,
) {
  const command = { kind: 'remove_note', note } as const
  if (!erase) return annotate(s, runId, command, caller, by)
  mustWrite(s)
  await mustBeRun(s, runId)
  const stream = annotationStream(runId)
  const which = { revision: note }
  await mustBeNote(s, stream, note)
  // A held note is not removed either, because its text could not be erased afterwards.
  await s.streams.erasable(stream, which, actorOf('user', by, caller.options))
  // The key stands for the erasure too, so a removal with the same key is another request.
  const asked = { stream, command, erase, code: code ?? null, reason: reason ?? null }
  const remover = await askerOf(s, caller, by, asked)
  const state = await s.streams.state(annotation, runId)
  if (state?.notes.has(note))
    await s.streams.submit(annotation, runId, command, remover, caller.options.expectedRevision)
  const asker = await askerOf(s, { ...caller, options: withoutKey(caller) }, by, null)
  const done = await s.streams.erase(stream, which, { code, reason: reason ?? 'the note was removed' }, asker)
  await untilShown(s)
  return { runId, ...done }
}

/** Rejects with NOTE_UNKNOWN if no note was added at the revision. */
async function mustBeNote({ log }: Pick<Services, 'log'>, stream: string, note: number): Promise<void> {
  for await (const [found] of log.read(stream, { from: note, limit: 1, bodies: false }))
    if (found?.header.type === 'note_added') return
  throw noteUnknown(note)
}

/** The removal has the key of the request. */
const withoutKey = ({ options: { key: _, ...options } }: OperationCaller) => options

/**
 * The texts of tags and notes that {@link eraseAnnotations} would erase. Rejects as the erasure by `by` does. Null: the
 * run has had neither tags nor notes.
 */
export async function erasableAnnotations(
  s: Services,
  runId: string,
  by: Actor,
): Promise<readonly ErasableBody[] | null> {
  const stream = annotationStream(runId)
  if ((await s.log.head(stream)) === null) return null
  return (await s.streams.erasable(stream, { all: true }, by)).bodies
}

/** Erases all tags and notes of a run that has had some. */
export async function eraseAnnotations(s: Services, runId: string, why: ErasureReason, asker: Asker): Promise<void> {
  await s.streams.erase(annotationStream(runId), { all: true }, why, asker)
}

/** The notes of a run, oldest first. The tables must be caught up. */
export async function listNotes(s: Services, runId: string) {
  await mustBeRun(s, runId)
  const { position, value } = await s.read.rows((db) => notesOf(db, runId))
  const notes = value.map(({ revision, text, by, claimed, at }) => ({
    ...{ note: revision, text, by, at },
    claimed: claimed === 1,
  }))
  return { position, notes }
}

import { z } from 'zod'
import { NOTE_LENGTH, TAG_LENGTH } from '../../../domain/annotation/limits.ts'
import { ErasureCode } from '../../../domain/stream/erasure.ts'
import { By, Digits, Id, Position } from '../schemas.ts'
import { isPlain, PLAIN } from '../text/plain-text.ts'

export const Tag = z
  .string()
  .refine(isPlain, PLAIN)
  .trim()
  .min(1)
  .max(TAG_LENGTH)
  .meta({ description: `At most ${TAG_LENGTH} characters of one line` })

export const RunParam = z.object({ id: Id })
export const NoteParam = RunParam.extend({
  note: Digits.meta({ type: 'integer', description: 'The number of the note, as the list shows it' }),
})

export const ChangeTag = z.strictObject({ tag: Tag, by: By.optional() }).meta({ id: 'ChangeTag' })

export const AddNote = z
  .strictObject({
    text: z
      .string()
      .trim()
      .min(1)
      .max(NOTE_LENGTH)
      .refine((text) => text.isWellFormed() && !text.includes('\0'), {
        error: 'expected well-formed text without NUL characters',
      }),
    by: By.optional(),
  })
  .meta({ id: 'AddNote' })

export const RemoveNote = z
  .strictObject({
    erase: z.boolean().default(false).meta({ description: 'Also empty its text in the log for ever; embedded only' }),
    code: ErasureCode.optional().meta({ description: 'With "erase": why; default: other' }),
    reason: z.string().trim().min(1).max(1000).optional(),
    by: By.optional(),
  })
  .refine(({ erase, code, reason }) => erase || (code === undefined && reason === undefined), {
    error: '"code" and "reason" say why a text is erased; give them only with "erase": true',
  })
  .meta({ id: 'RemoveNote' })
export type RemoveNote = z.output<typeof RemoveNote>

export const AnnotationChanged = z
  .strictObject({
    runId: z.string(),
    revision: z.int().meta({ description: 'Of the stream annotation-<run>; the number of an added note' }),
    recorded: z.boolean().meta({ description: 'False: it was so before' }),
  })
  .meta({ id: 'AnnotationChanged' })

export const Note = z
  .strictObject({
    note: z.int(),
    text: z.string(),
    by: z.string(),
    claimed: z.boolean().meta({ description: 'The request named the author, and nothing checked the name' }),
    at: z.string(),
  })
  .meta({ id: 'Note', description: 'A note of a person about a run' })
export type Note = z.infer<typeof Note>

export const NoteList = z.strictObject({ position: Position, notes: z.array(Note).readonly() }).meta({ id: 'NoteList' })

export const TagList = z
  .strictObject({
    position: Position,
    tags: z.array(z.strictObject({ tag: z.string(), runs: z.int() })).readonly(),
  })
  .meta({ id: 'TagList' })

import { z } from 'zod'
import { TEXT_KINDS } from '../../../projections/agent/text-kinds.ts'
import { CursorText, Digits, Id, Next, Position } from '../schemas.ts'
import { isPlain, PLAIN } from '../text/plain-text.ts'

const Searched = z.string().refine(isPlain, PLAIN).trim().min(1).max(200)

export const SearchQuery = z.strictObject({
  text: Searched.meta({ description: 'It occurs in the text; the case of A to Z does not matter' }),
  run: Id.optional().meta({ description: 'Only in this run' }),
  limit: Digits.pipe(z.int().min(1).max(200)).prefault('50').meta({ type: 'integer' }),
  after: CursorText.optional(),
})
export type SearchQuery = z.output<typeof SearchQuery>

export const TextMatch = z
  .strictObject({
    runId: z.string(),
    agentId: z.string(),
    stream: z.string(),
    revision: z.int().meta({ description: 'Of the event in its stream' }),
    at: z.string(),
    kind: z.enum(TEXT_KINDS).meta({
      description:
        'What the text is: an input, an answer of the model, the arguments or the output of a call, a message between agents, the end of a run, or a span of a program',
    }),
    toolCallId: z.string().nullable(),
    before: z.string().meta({ description: 'The text before the match, shortened' }),
    match: z.string(),
    after: z.string(),
  })
  .meta({ id: 'TextMatch', description: 'A place where a text was found' })
/** A text of an event that contains the searched text, with the characters around the match. */
export type TextMatch = z.infer<typeof TextMatch>

export const Matches = z
  .strictObject({
    position: Position,
    matches: z.array(TextMatch).readonly(),
    next: Next,
  })
  .meta({ id: 'Matches' })

export const FilesQuery = z.strictObject({
  text: Searched.meta({ description: 'It occurs in the path; the case of A to Z does not matter' }),
  limit: Digits.pipe(z.int().min(1).max(200)).prefault('50').meta({ type: 'integer' }),
})

export const FileMatches = z
  .strictObject({
    position: Position,
    files: z
      .array(z.strictObject({ path: z.string(), runs: z.int().meta({ description: 'How many runs name it' }) }))
      .readonly(),
  })
  .meta({ id: 'FileMatches' })

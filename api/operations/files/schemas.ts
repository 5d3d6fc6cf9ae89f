import { z } from 'zod'
import { Digits, Id } from '../schemas.ts'
import { isPlain, PLAIN } from '../text/plain-text.ts'

export const BlameFileQuery = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(4_096)
    .refine(isPlain, PLAIN)
    .refine((path) => !path.startsWith('/') && !path.split('/').includes('..'), {
      error: 'expected a path in the working folder, relative to it',
    })
    .meta({ description: 'A file, relative to the working folder' }),
  step: Digits.meta({ type: 'integer', description: 'The file as it is at this step' }),
  agent: Id.optional(),
})

/** A file at a step, and for each part the calls that may have written it. */
export const FileBlame = z
  .strictObject({
    path: z.string(),
    content: z
      .enum(['text', 'binary', 'too_large', 'none'])
      .meta({ description: 'none: there is no such file at the step' }),
    parts: z
      .array(z.strictObject({ text: z.string(), source: z.int().nullable() }))
      .meta({ description: 'In order, whole lines. `source`: a place in `sources`; null: older than all of them' }),
    sources: z.array(
      z.strictObject({
        step: z.int(),
        calls: z
          .array(
            z.strictObject({ agentId: z.string(), revision: z.int(), toolCallId: z.string(), toolName: z.string() }),
          )
          .readonly()
          .meta({
            description:
              'Calls since the version before that may have written it; none at step 0: it was so when the run began',
          }),
      }),
    ),
    since: z.int().meta({ description: 'Versions before this step were not looked at; 0: all were' }),
  })
  .meta({ id: 'FileBlame' })
export type FileBlame = z.infer<typeof FileBlame>

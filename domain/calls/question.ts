import { z } from 'zod'
import { canonicalBytes } from '../log/canonical.ts'
import { sha256 } from '../log/ids.ts'

/**
 * A file on which a question to a person rests. `path`: its real path in the workspace. `content`: the hex SHA-256 of its
 * bytes; `absent`: no such file exists; `unreadable`: the path leads to a folder, or to a file that cannot be read.
 */
export const SeenFile = z.strictObject({
  path: z.string(),
  content: z.union([z.literal(['absent', 'unreadable']), z.string().regex(/^[0-9a-f]{64}$/)]),
})
export type SeenFile = z.infer<typeof SeenFile>

/** A question to a person, as far as the log knows it. `asked`: what sets it apart from other questions about the same call. */
export interface Question {
  readonly for: 'approval' | 'doubt'
  readonly toolCallId: string
  readonly argumentsHash: string | null
  /** An approval's ISO 8601 expiry; the revision of a doubt; null: the call is asked about only once. */
  readonly asked: string | number | null
}

/**
 * The hash of a question as a person is shown it, hex SHA-256: the call with its arguments, and the content of
 * the files that the preview shows. An answer names it, so that it belongs to the question that was read.
 */
export const questionHash = (question: Question, files: readonly SeenFile[] = []): string => {
  const { for: kind, toolCallId, argumentsHash, asked } = question
  return sha256(canonicalBytes({ for: kind, toolCallId, argumentsHash, asked, files: [...files] }))
}

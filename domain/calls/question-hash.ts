import { z } from 'zod'
import { canonicalBytes } from '../log/canonical.ts'
import { saltedHash, sha256 } from '../log/ids.ts'
import { instantText } from '../log/instant.ts'
import type { SentSecret } from './events/event-parts.ts'

/**
 * A file that a question to a person depends on. `path`: its real path in the workspace. `content`: the hex SHA-256 of
 * its bytes; `absent`: the file does not exist; `unreadable`: the path is a folder, or a file that cannot be read.
 */
export const SeenFile = z.strictObject({
  path: z.string(),
  content: z.union([z.literal(['absent', 'unreadable']), z.string().regex(/^[0-9a-f]{64}$/)]),
})
export type SeenFile = z.infer<typeof SeenFile>

/** A question to a person, as recorded in the log. `asked`: distinguishes it from others about the same call. */
export interface Question {
  readonly for: 'approval' | 'doubt'
  readonly toolCallId: string
  readonly argumentsHash: string | null
  /** An approval's ISO 8601 expiry, or the revision of a doubt; null: there is only one question about the call. */
  readonly asked: string | number | null
}

/**
 * The hash of a question as a person sees it, hex SHA-256: the call with its arguments, the content of the files in the
 * preview, and the destinations of secrets. An answer contains the hash, so it cannot apply to another question.
 */
export const questionHash = (
  question: Question,
  files: readonly SeenFile[] = [],
  secrets: readonly SentSecret[] = [],
): string => {
  const { for: kind, toolCallId, argumentsHash, asked } = question
  const sent = secrets.map(({ name, to }) => ({ name, to }))
  // Questions without secrets keep the hash of older versions.
  const more = sent.length === 0 ? {} : { secrets: sent }
  return sha256(canonicalBytes({ for: kind, toolCallId, argumentsHash, asked, files: [...files], ...more }))
}

/** A file as an event stores it: the hash of its content under the salt of hashes. */
export const storedFile = (salt: string, { path, content }: SeenFile): SeenFile => ({
  path,
  content: content === 'absent' || content === 'unreadable' ? content : saltedHash(salt, content),
})

/** The members of a call that a question shows. */
interface AskedCall {
  readonly id: string
  readonly argumentsHash: string
  readonly secrets?: readonly SentSecret[]
}

/** The hash of an approval question. `expiresAt`: ms. */
export const approvalHash = (
  { id, argumentsHash, secrets }: AskedCall,
  expiresAt: number,
  files: readonly SeenFile[],
): string =>
  questionHash({ for: 'approval', toolCallId: id, argumentsHash, asked: instantText(expiresAt) }, files, secrets)

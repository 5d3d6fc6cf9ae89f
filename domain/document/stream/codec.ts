import { firstIssue } from '../../agent/issues.ts'
import { FORMAT, type Header, READER } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { bodies, type DocumentEvent, isDocumentEvent, versions } from './events.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Throws `LOG_NEWER` or `UNKNOWN_EVENT` where the header says that this program cannot read the body. */
export function checkKnown({ format, minReader, body, stream, revision, type, version }: Header): void {
  const at = `${stream}@${revision}`
  if (format > FORMAT || (minReader ?? 1) > READER)
    throw new LogError('LOG_NEWER', `${at} was written by a newer keepup; use that one`)
  if (body.cipher !== undefined)
    throw new LogError('UNKNOWN_EVENT', `the body of ${at} is enciphered, which this keepup cannot read`)
  if (!isDocumentEvent(type) || version > versions[type])
    throw new LogError('UNKNOWN_EVENT', `"${type}" version ${version} at ${at} is not known; a newer keepup wrote it`)
}

/** A stored event as the fold sees it. Throws `UNKNOWN_EVENT`, `LOG_NEWER` or `LOG_CORRUPT`. */
export function decode(header: Header, body: Uint8Array): DocumentEvent {
  checkKnown(header)
  try {
    return decodeKept(header, { body: JSON.parse(utf8.decode(body)) })
  } catch (cause) {
    throw new LogError('LOG_CORRUPT', `the body of ${header.stream}@${header.revision} is not JSON`, { cause })
  }
}

/** An event whose body was erased, from the residue. */
export function decodeKept(header: Header, { body }: { readonly body: unknown }): DocumentEvent {
  const { type, revision, commandId, actor, timestamp } = header
  const { runId, toolCallId, causationId, correlationId } = header
  return {
    ...{ type, body, revision, at: Date.parse(timestamp), commandId, actor, bodyHash: header.body.hash },
    ...(runId === undefined ? {} : { runId }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(causationId === undefined ? {} : { causationId }),
    ...(correlationId === undefined ? {} : { correlationId }),
  } as DocumentEvent
}

/** Why a body has not its type's current shape, or null. */
export function bodyFault({ type, body }: DocumentEvent): string | null {
  const parsed = bodies[type].safeParse(body)
  return parsed.success ? null : firstIssue(parsed.error, 'body')
}

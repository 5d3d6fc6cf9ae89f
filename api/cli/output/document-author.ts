import type { DocumentEntry } from '../../operations/document/schemas.ts'

/** Who made a request or a comment: the id of the agent's call, else the person. */
export const authorOf = ({ by, toolCallId }: Pick<DocumentEntry, 'by' | 'toolCallId'>): string =>
  toolCallId ?? `${by.kind}:${by.id}`

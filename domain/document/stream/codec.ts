import { codecOf } from '../../stream/codec.ts'
import { type DocumentEvent, documentBodies, documentVersions } from './events.ts'

export const { reading, decode, decodeKept, bodyFault } = codecOf<DocumentEvent>(
  { bodies: documentBodies, versions: documentVersions },
  ({ runId }) => (runId === undefined ? {} : { runId }),
)

import { codecOf } from '../../stream/codec.ts'
import { bodies, type DocumentEvent, versions } from './events.ts'

export const { reading, decode, decodeKept, bodyFault } = codecOf<DocumentEvent>({ bodies, versions }, ({ runId }) =>
  runId === undefined ? {} : { runId },
)

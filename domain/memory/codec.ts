import { codecOf } from '../stream/codec.ts'
import { bodies, type MemoryEvent, versions } from './events.ts'

export const { reading, decodeKept, bodyFault } = codecOf<MemoryEvent>({ bodies, versions }, ({ runId }) =>
  runId === undefined ? {} : { runId },
)

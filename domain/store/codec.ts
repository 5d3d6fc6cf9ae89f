import { codecOf } from '../stream/codec.ts'
import { bodies, type ContextEvent, versions } from './events.ts'

export const { reading, decodeKept, bodyFault } = codecOf<ContextEvent>({ bodies, versions }, ({ runId }) =>
  runId === undefined ? {} : { runId },
)

import { codecOf } from '../stream/codec.ts'
import { bodies, type ContextEvent, versions } from './events.ts'

/** How stored events of a store are read, and what is wrong with a body. */
export const { decode, decodeKept, checkKnown, bodyFault } = codecOf<ContextEvent>({ bodies, versions }, ({ runId }) =>
  runId === undefined ? {} : { runId },
)

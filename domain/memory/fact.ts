import { hash } from 'node:crypto'
import type { MemoryScope } from '../calls/memory/request.ts'
import { base32 } from '../log/ids.ts'

/** The maximum number of facts per place. */
export const FACTS_IN_PLACE = 100_000
/** The id of the fact that a call saves. A repeated call has the same id, so it saves one fact. */
export const memoryOfCall = (scope: MemoryScope, callId: string): string => idFrom(scope, `memory of ${callId}`)

/** The id of a fact that a person saves. `seed`: unique per request. */
export const memoryOfPerson = (scope: MemoryScope, seed: string): string => idFrom(scope, `memory of person ${seed}`)

const idFrom = (scope: MemoryScope, seed: string): string =>
  `${scope}-${base32(hash('sha256', seed, 'buffer').subarray(0, 15))}`

/**
 * The stream of a fact, without the namespace. Each fact has its own stream. Concurrent runs therefore never conflict,
 * and a change or an erasure of a fact reads no other fact.
 */
export const memoryStream = (memoryId: string): string => `memory-${memoryId}`

import { hash } from 'node:crypto'
import { base32 } from '../log/ids.ts'

/** The runs that can use a fact: the run that saved it, all runs in its workspace, or all runs. */
export const SCOPES = ['run', 'workspace', 'global'] as const
export type MemoryScope = (typeof SCOPES)[number]

/** The owner of a fact. `place`: the run's id, the workspace's real path, or the empty text for `global`. */
export interface Place {
  readonly scope: MemoryScope
  readonly place: string
}

/** The maximum size of one fact, in UTF-8 bytes. */
export const FACT_BYTES = 4_096
/** The maximum number of facts per place. */
export const FACTS_IN_PLACE = 100_000
/** The maximum length of a query, in characters. */
export const QUERY_LENGTH = 1_000
/** The maximum and the default number of facts in a search result. */
export const MOST_FOUND = 50
export const FOUND = 10

/** The id of a fact: its scope, and 24 characters of lower-case base32. */
export const MEMORY_ID = /^(run|workspace|global)-[0-9a-hjkmnp-tv-z]{24}$/

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

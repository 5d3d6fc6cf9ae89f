import { hash } from 'node:crypto'
import { base32 } from '../log/ids.ts'

/** How far a fact reaches: the run that saved it, all runs in its workspace, or all runs. */
export const SCOPES = ['run', 'workspace', 'global'] as const
export type MemoryScope = (typeof SCOPES)[number]

/** Where a fact belongs. `place`: the run's id, the workspace's real path, or the empty text for `global`. */
export interface Place {
  readonly scope: MemoryScope
  readonly place: string
}

/** UTF-8 bytes of one fact. */
export const FACT_BYTES = 4_096
/** Facts of one place. */
export const FACTS_IN_PLACE = 100_000
/** Characters of what is searched for. */
export const QUERY_LENGTH = 1_000
/** Facts that one search gives, at most and where no number is asked for. */
export const MOST_FOUND = 50
export const FOUND = 10

/** The id of a fact: its scope, and 24 characters of lower-case base32. */
export const MEMORY_ID = /^(run|workspace|global)-[0-9a-hjkmnp-tv-z]{24}$/

/** The id of the fact that a call saves: a call saves one fact, however often it is performed. */
export const memoryOfCall = (scope: MemoryScope, callId: string): string => idFrom(scope, `memory of ${callId}`)

/** An id of its own for what a person saves. `seed`: something that no other request has. */
export const memoryOfPerson = (scope: MemoryScope, seed: string): string => idFrom(scope, `memory of person ${seed}`)

const idFrom = (scope: MemoryScope, seed: string): string =>
  `${scope}-${base32(hash('sha256', seed, 'buffer').subarray(0, 15))}`

/**
 * The stream of a fact, without the namespace. Each fact has its own: runs that save at the same time never meet in one
 * stream, and a fact is corrected, forgotten and erased without reading any other.
 */
export const memoryStream = (memoryId: string): string => `memory-${memoryId}`

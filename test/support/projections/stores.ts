import type { Json } from '../../../domain/log/json.ts'
import { context } from '../../../domain/store/aggregate.ts'
import { refOf } from '../../../domain/store/variable.ts'
import type { MemoryLog } from './memory-log.ts'
import { HASH } from './spec.ts'

const VALUES: readonly Json[] = ['text', 7, true, null, ['a', 'ü'], { said: 'words' }]

interface Told {
  /** Keys that are set. */
  readonly held: Set<string>
  /** Bodies of sets without erasure, by revision. */
  readonly sets: Map<number, object>
}

/** Stores of context variables, with values that are set, deleted and erased. */
export class Stores {
  readonly #log: MemoryLog
  readonly #now: () => number
  readonly #stores = new Map<string, Told>()
  #told = 0

  constructor(log: MemoryLog, now: () => number) {
    this.#log = log
    this.#now = now
  }

  /** The next event of a store. It uses no number of the tape, so all other stories stay the same. */
  tell(erasures: boolean): void {
    const pick = (below: number) => (++this.#told * 7919 + (this.#told >> 2) * 31) % below
    const name = `s${pick(2)}`
    const store = this.#stores.get(name) ?? { held: new Set(), sets: new Map() }
    this.#stores.set(name, store)
    const [choice, key] = [pick(6), `k${pick(3)}`]
    if (choice === 0 && store.held.delete(key)) this.#add(name, 'variable_deleted', { key })
    else if (choice === 1 && erasures && store.sets.size > 0) this.#erase(name, store, pick)
    else {
      const body = { ...refOf(key, VALUES[choice]!), value: VALUES[choice]! }
      store.sets.set(this.#add(name, 'variable_set', body, choice === 5).header.revision, body)
      store.held.add(key)
    }
  }

  #erase(name: string, { sets }: Told, pick: (below: number) => number): void {
    const all = pick(3) === 0
    const gone = all ? [...sets] : [[...sets][pick(sets.size)]!]
    const left = gone.map(([revision, body]) => ({
      revision,
      version: 1,
      body: context.erasing.residue('variable_set', body, HASH),
    }))
    this.#add(name, 'residue', { bodies: left })
    const bodies = gone.map(([revision]) => ({ revision, bodyHash: HASH }))
    const erases = bodies.map(({ revision }) => revision)
    this.#add(name, 'erased', { bodies, code: 'other', reason: 'asked to' }, false, erases)
    for (const revision of erases) sets.delete(revision)
  }

  #add(name: string, type: string, body: object, blob = false, erases?: readonly number[]) {
    const actor = { kind: 'user', id: 'ann', claimed: true } as const
    const draft = { stream: `context-${name}`, type, body, runId: 'program', at: this.#now(), actor, blob }
    return this.#log.add(erases === undefined ? draft : { ...draft, erases })
  }
}

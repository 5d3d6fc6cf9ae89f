import type { Right } from '../../domain/access/rights.ts'
import type { Identity } from '../../domain/access/runtime/access-gate.ts'
import type { AccessState } from '../../domain/access/state.ts'
import { localIdentity, mustHave } from '../operations/access/identity.ts'
import type { RequestOptions } from '../operations/runs/request-options.ts'
import { By } from '../operations/schemas.ts'
import type { Services } from '../operations/services.ts'
import { parsed } from './parsed.ts'

/** The person of a command, and an idempotency key. */
export interface Saying {
  readonly by?: string
  readonly key?: string
}

/** A caller of the library. `by`: the name for requests; with access on, only a name that the program gave. */
export interface Caller {
  readonly identity: Identity | null
  readonly by: string | undefined
  readonly options: Pick<RequestOptions, 'identity'>
}

/** The right that a request needs; null: none. */
export interface Needed {
  readonly right: Right | null
  readonly operation: string
  readonly run: string | null
}

/** The callers of a library. `name`: the default person. `key`: the key of the program's principal. */
export class Callers {
  readonly #services: Services
  readonly #name: string
  readonly #key: string | undefined

  constructor(services: Services, { name, key }: { readonly name: string; readonly key?: string | undefined }) {
    this.#services = services
    this.#name = name
    this.#key = key
  }

  /**
   * The caller of a request by this person. Rejects with UNAUTHORIZED if the program's key is not valid, and with
   * FORBIDDEN if its principal does not have the right.
   */
  async caller(said: string | undefined, { right, ...asked }: Needed): Promise<Caller> {
    const caller = this.#callerOf(said, await this.#services.access.state())
    if (caller.identity !== null && right !== null) mustHave(this.#services, caller.identity, right, asked)
    return caller
  }

  #callerOf(said: string | undefined, state: AccessState | null): Caller {
    const identity = localIdentity(this.#services, state, this.#key)
    if (identity === null) return { identity, by: parsed(By, said ?? this.#name), options: {} }
    return { identity, by: said, options: { identity } }
  }
}

import type { Right } from '../../domain/access/rights.ts'
import type { Identity } from '../../domain/access/runtime/access-gate.ts'
import type { AccessState } from '../../domain/access/state.ts'
import { isAuditedRead, localIdentity, mustHave } from '../operations/access/identity.ts'
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

/** The rights that a request needs; null: none. */
export interface Needed {
  readonly right: Right | readonly Right[] | null
  readonly operation: string
  readonly run: string | null
  /** The HTTP method of the operation. If absent, the right decides whether the request is a read. */
  readonly method?: string
}

/** The rights of methods that only read. */
const READS = /\.(?:read|verify|ask)$/

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
   * The caller of a request by this person. Counts reads. Rejects with UNAUTHORIZED if the program's key is not valid, and with
   * FORBIDDEN if its principal does not have the rights.
   */
  async caller(said: string | undefined, { right, method, operation, run }: Needed): Promise<Caller> {
    const caller = this.#callerOf(said, await this.#services.access.state())
    const { identity } = caller
    if (identity === null || right === null) return caller
    const [first, ...more] = [right].flat() as [Right, ...Right[]]
    for (const one of [first, ...more]) mustHave(this.#services, identity, one, { operation, run })
    if (isAuditedRead(method ?? (READS.test(first) ? 'GET' : 'POST'), first))
      this.#services.uses.read({ principal: identity.principal, operation, run })
    return caller
  }

  #callerOf(said: string | undefined, state: AccessState | null): Caller {
    const identity = localIdentity(this.#services, state, this.#key)
    if (identity === null) return { identity, by: parsed(By, said ?? this.#name), options: {} }
    return { identity, by: said, options: { identity } }
  }
}

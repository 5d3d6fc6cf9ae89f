import { LogError } from '../../log/errors.ts'
import { hex } from '../../log/ids.ts'
import { instantOf } from '../../log/instant.ts'
import type { Clock, Random } from '../../ports/index.ts'
import type { CausedContext } from '../../stream/emitter.ts'
import type { Asking, Mailbox, Submitted } from '../../stream/runtime/mailbox.ts'
import type { Streams } from '../../stream/runtime/streams.ts'
import { entry } from '../../stream/table.ts'
import type { AccessCommand, Login } from '../decide.ts'
import type { AccessEvent } from '../events.ts'
import type { Right, Role } from '../rights.ts'
import {
  type AccessState,
  type Claim,
  claimOf,
  currentPrincipal,
  isExpired,
  isNewClaim,
  type Principal,
  principalOfSubject,
  rightsOfRoles,
  type SubjectOf,
  type TokenSource,
} from '../state.ts'

/** Why a verified token gives no rights. `not_linked`: a principal with the name of the person has no subject of the issuer. */
export type NotIdentified = 'removed' | 'no_role' | 'not_linked'

/** A principal with the rights of one request. */
export interface Identity {
  readonly principal: string
  /** The id of the key; null: none was used. */
  readonly key: string | null
  readonly rights: ReadonlySet<Right>
  /** Without the rights of claimed roles, which end with the login. Absent: all rights last. */
  readonly lasting?: ReadonlySet<Right>
}

/** Why a key, session or token gives no rights. */
export type Unidentified = 'unknown' | 'revoked' | 'expired' | 'removed' | 'no_role'

type AccessMailbox = Mailbox<AccessState, AccessEvent, AccessCommand, CausedContext>

interface GatePorts {
  readonly clock: Clock
  readonly mailbox: AccessMailbox
  readonly streams: Streams
  /**
   * The age in ms up to which a state counts as current. 0: each request reads the end of the stream. Infinity: only
   * this process writes, and only through {@link AccessGate.change}.
   */
  readonly maxAgeMs: number
  readonly random: Random
  /** False: this process only reads. */
  readonly writes: boolean
}

/** Identifies principals by the state of `access-rights`. */
export class AccessGate {
  readonly #ports: GatePorts
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<unknown> | null = null
  #rolesDefined = false
  /** The time of the newest token of each subject, oldest use first. */
  readonly #newest = new Map<string, number>()

  constructor(ports: GatePorts) {
    this.#ports = ports
  }

  /** The state of access. Null: access was not set up. */
  async state(): Promise<AccessState | null> {
    const { clock, mailbox, maxAgeMs } = this.#ports
    const now = clock.now()
    if (now - this.#readAt >= maxAgeMs) {
      this.#reading ??= mailbox.refresh().finally(() => {
        this.#reading = null
      })
      await this.#reading.catch((error: unknown) => {
        // While the log cannot be reached, nobody can record a change either. Reads of the tables go on.
        const isOutage = error instanceof LogError && error.code === 'LOG_UNAVAILABLE'
        if (!isOutage || this.#readAt === Number.NEGATIVE_INFINITY) throw error
      })
      this.#readAt = now
    }
    if (this.known !== null && !this.#rolesDefined && this.#ports.writes) {
      this.#rolesDefined = true
      const by = { kind: 'system', id: 'keepup' } as const
      await this.change({ kind: 'define_roles' }, { by, commandId: `roles:${hex(this.#ports.random.bytes(16))}` })
    }
    return this.known
  }

  /** The state of the last answer. Null: access was not set up then. */
  get known(): AccessState | null {
    const { state } = this.#ports.mailbox
    return state?.begun === true ? state : null
  }

  /** Decides and records a change. The next answer has it. Rejects as {@link Mailbox.submit} does. */
  async change(command: AccessCommand, asking: Asking<CausedContext>, expected?: number): Promise<Submitted> {
    const hidden = await this.#hidden(command)
    return this.#ports.mailbox.submit(hidden, asking, { fact: false, ...(expected !== undefined && { expected }) })
  }

  /** Reads the stream again before the next answer. Call it after an erasure. */
  forget(): void {
    this.#ports.mailbox.forget()
    this.#readAt = Number.NEGATIVE_INFINITY
  }

  /** Only names and reasons are texts of people. Ids stay as they are, also when a secret has the same value. */
  async #hidden(command: AccessCommand): Promise<AccessCommand> {
    const { streams } = this.#ports
    if (command.kind === 'begin')
      return { ...command, admin: { ...command.admin, name: await streams.hide(command.admin.name) } }
    if (command.kind === 'add') return { ...command, as: { ...command.as, name: await streams.hide(command.as.name) } }
    if (command.kind === 'log_in')
      return { ...command, login: { ...command.login, name: await streams.hide(command.login.name) } }
    if ('reason' in command && typeof command.reason === 'string')
      return { ...command, reason: await streams.hide(command.reason) }
    return command
  }

  /**
   * The holder of a key, whose secret the caller has checked. A key gives no claimed roles, because it outlives the
   * login that claimed them.
   */
  identifyKey(state: AccessState, id: string): Identity | Unidentified {
    const key = entry(state.keys, id)
    if (key === undefined) return 'unknown'
    if (key.revoked) return 'revoked'
    if (isExpired(key, this.#ports.clock.now())) return 'expired'
    const principal = currentPrincipal(state, key.principal)
    if (principal === undefined) return 'removed'
    const all = rightsOfRoles(state, principal.roles)
    const rights = key.rights === null ? all : new Set([...all].filter((right) => isGiven(key.rights!, right)))
    return { principal: principal.id, key: id, rights }
  }

  /**
   * The person of a session. `key`: the id of the key that opened it; null: the person logged in at the issuer of
   * `source` (null: no issuer is configured, so such sessions have ended).
   */
  identifySession(
    state: AccessState,
    principal: string,
    key: string | null,
    source: TokenSource | null,
  ): Identity | Unidentified {
    if (key !== null) {
      const found = this.identifyKey(state, key)
      return typeof found === 'string' || found.principal === principal ? found : 'unknown'
    }
    const person = currentPrincipal(state, principal)
    if (person === undefined) return 'removed'
    if (source === null || person.subject?.issuer !== source.issuer) return 'unknown'
    return identityWith(state, person, claimOf(person, source)?.roles ?? [])
  }

  /**
   * The principal of a token, which the caller has verified. `unrecorded`: submit the command `log_in` first. A token
   * gives claimed roles only if the last recorded token claims them too, so an old token does not bring a role back.
   */
  identifyToken(state: AccessState, login: Login): Identity | NotIdentified | 'unrecorded' {
    const { subject, claim, kind, ids } = login
    const known = principalOfSubject(state, subject)
    const isNewest = this.#isNewest(subject, claim)
    if (known === undefined) {
      if (claim.roles.length === 0 || !isNewest) return 'no_role'
      // The person may have this principal already. As two principals, one person would count as two approvers.
      const isTaken = kind === 'person' && ids.slice(0, -1).some((id) => currentPrincipal(state, id) !== undefined)
      return isTaken ? 'not_linked' : 'unrecorded'
    }
    if (known.removed) return 'removed'
    if (isNewest && isNewClaim(known, claim)) return 'unrecorded'
    const recorded = claimOf(known, claim)?.roles ?? []
    return identityWith(
      state,
      known,
      recorded.filter((role) => claim.roles.includes(role)),
    )
  }

  /** Whether this process saw no newer token of the subject. A token with unchanged roles is not recorded. */
  #isNewest(subject: SubjectOf, { issuer, audience, issuedAt }: Claim): boolean {
    const name = JSON.stringify([issuer, audience, subject.issuer, subject.subject])
    const [at, last] = [instantOf(issuedAt), this.#newest.get(name) ?? 0]
    if (at < last) return false
    this.#newest.delete(name)
    this.#newest.set(name, at)
    const [oldest] = this.#newest.keys()
    if (this.#newest.size > MOST_SUBJECTS && oldest !== undefined) this.#newest.delete(oldest)
    return true
  }
}

/** Whether a limited key gives the right. Every key may say whose it is. */
const isGiven = (rights: readonly string[], right: Right): boolean => right === 'self.use' || rights.includes(right)

/** The most subjects whose newest token a process remembers. */
const MOST_SUBJECTS = 10_000

function identityWith(state: AccessState, { id, roles }: Principal, claimed: readonly Role[]): Identity | 'no_role' {
  const all = [...roles, ...claimed]
  if (all.length === 0) return 'no_role'
  return { principal: id, key: null, rights: rightsOfRoles(state, all), lasting: rightsOfRoles(state, roles) }
}

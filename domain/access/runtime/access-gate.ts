import { LogError } from '../../log/errors.ts'
import { hex } from '../../log/ids.ts'
import type { Clock, Random } from '../../ports/index.ts'
import type { CausedContext } from '../../stream/emitter.ts'
import type { Asking, Mailbox, Submitted } from '../../stream/runtime/mailbox.ts'
import type { Streams } from '../../stream/runtime/streams.ts'
import { entry } from '../../stream/table.ts'
import type { AccessCommand } from '../decide.ts'
import type { AccessEvent } from '../events.ts'
import type { Right } from '../rights.ts'
import { type AccessState, currentPrincipal, isExpired, rightsOfRoles } from '../state.ts'

/** A principal with the rights of one request. */
export interface Identity {
  readonly principal: string
  /** The id of the key; null: none was used. */
  readonly key: string | null
  readonly rights: ReadonlySet<Right>
}

/** Why a key or session gives no rights. */
export type Unidentified = 'unknown' | 'revoked' | 'expired' | 'removed'

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
    if ('reason' in command && command.reason !== null)
      return { ...command, reason: await streams.hide(command.reason) }
    return command
  }

  /** The holder of a key, whose secret the caller has checked. */
  identifyKey(state: AccessState, id: string): Identity | Unidentified {
    const key = entry(state.keys, id)
    if (key === undefined) return 'unknown'
    if (key.revoked) return 'revoked'
    if (isExpired(key, this.#ports.clock.now())) return 'expired'
    const principal = currentPrincipal(state, key.principal)
    if (principal === undefined) return 'removed'
    const all = rightsOfRoles(state, principal.roles)
    const rights = key.rights === null ? all : new Set([...all].filter((right) => key.rights!.includes(right)))
    return { principal: principal.id, key: id, rights }
  }

  /** The person of a session. `key`: the id of the key that opened it; null: the person logged in without a key. */
  identifySession(state: AccessState, principal: string, key: string | null): Identity | Unidentified {
    if (key !== null) {
      const found = this.identifyKey(state, key)
      return typeof found === 'string' || found.principal === principal ? found : 'unknown'
    }
    const person = currentPrincipal(state, principal)
    return person === undefined ? 'removed' : { principal, key: null, rights: rightsOfRoles(state, person.roles) }
  }
}

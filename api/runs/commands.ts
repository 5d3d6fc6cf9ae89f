import type { UserCommand } from '../../domain/agent/commands.ts'
import { canonicalBytes } from '../../domain/log/canonical.ts'
import type { Actor } from '../../domain/log/envelope.ts'
import { agentStream, sha256 } from '../../domain/log/ids.ts'
import type { Request } from '../../domain/runtime/types.ts'
import { type CommandHeaders, tracing } from '../http/new-app.ts'
import { Problem } from '../http/problem.ts'
import type { Recorded } from '../http/schemas/common.ts'
import type { Services } from '../services.ts'

const KEPT_KEYS = 10_000

/** Keys of this process's recent commands with what they asked, to tell a repetition from a reuse. */
export class RecentKeys {
  readonly #asked = new Map<string, string>()
  readonly #answers = new Map<string, Promise<{ readonly runId: string }>>()

  /** Refuses a key that came with something else before. */
  check(scope: string, key: string, asked: string): void {
    const name = `${scope} ${key}`
    const before = this.#asked.get(name)
    if (before !== undefined && before !== asked) throw keyReused()
    this.#asked.set(name, asked)
    if (this.#asked.size > KEPT_KEYS) this.#asked.delete(this.#asked.keys().next().value!)
  }

  /** Does something once under a key; a repetition gets the first answer, a failure is forgotten. */
  once<T extends { readonly runId: string }>(
    scope: string,
    key: string,
    asked: string,
    act: () => Promise<T>,
  ): Promise<T> {
    this.check(scope, key, asked)
    const name = `${scope} ${key}`
    const before = this.#answers.get(name)
    if (before) return before as Promise<T>
    const answer = act()
    this.#answers.set(name, answer)
    answer.catch(() => this.#answers.delete(name))
    if (this.#answers.size > KEPT_KEYS) this.#answers.delete(this.#answers.keys().next().value!)
    return answer
  }
}

export const keyReused = (): Problem =>
  new Problem(422, 'IDEMPOTENCY_KEY_REUSED', 'this Idempotency-Key came with another request before; draw a new one')

export const notFound = (what: string, hint: string): Problem =>
  new Problem(404, 'NOT_FOUND', `no such ${what}; ${hint}`)

/** Who asks. Nobody has checked the name, so it is marked as claimed. */
export function actorOf(kind: 'user' | 'approver', by: string | undefined): Actor {
  return { kind, id: by ?? 'anonymous', claimed: true }
}

/** Refuses every change where this process only reads. */
export function mustWrite(s: Services): void {
  if (!s.readOnly) return
  throw new Problem(503, 'READ_ONLY', 'this process only reads the data folder; ask the process that owns it')
}

/** The same request gives the same command id, which the agent's state remembers. */
export function commandId(key: string, asked: unknown): string {
  return `${key}#${sha256(canonicalBytes(asked)).slice(0, 16)}`
}

export interface Asked {
  readonly agentId: string
  readonly command: UserCommand
  readonly actor: Actor
  readonly headers: CommandHeaders
  /** `wake`: only where this process drives by itself. */
  readonly drive: 'yes' | 'no' | 'wake'
}

/**
 * Records a command of a person and drives the agent as asked. Rejects with 404 for an unknown agent, 412 where it is
 * no longer at the revision of If-Match, and with what the agent's state refuses.
 */
export async function record(s: Services, keys: RecentKeys, asked: Asked): Promise<Recorded> {
  mustWrite(s)
  if (!(await s.log.head(agentStream(asked.agentId)))) throw notFound('agent', 'list them with GET /v1/runs')
  const expected = asked.headers['if-match']?.slice(1, -1)
  const key = asked.headers['idempotency-key']
  if (key !== undefined) keys.check(asked.agentId, key, JSON.stringify(asked.command))
  const request: Request = {
    by: asked.actor,
    ...(key === undefined ? {} : { key: commandId(key, asked.command) }),
    ...(expected === undefined ? {} : { expected: Number(expected) }),
    ...tracing(asked.headers),
  }
  const { revision } = await s.runtime.execute(asked.agentId, asked.command, request)
  const drive = asked.drive === 'yes' || (asked.drive === 'wake' && s.autoDrive)
  if (drive) s.drivers.start(asked.agentId)
  return { runId: asked.agentId, revision, driving: s.drivers.state(asked.agentId).driving }
}

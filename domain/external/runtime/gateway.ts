import { asJson } from '../../log/json.ts'
import type { AgentBackend, AgentRunHandle, ExternalLog, HeldFiles, Hiding, StartedBy } from '../../ports/external.ts'
import type { Clock } from '../../ports/index.ts'
import { checkAgentKind } from '../capabilities.ts'
import type { Confinement } from '../confinement.ts'
import { AgentError } from '../errors.ts'
import type { RecordedRequest } from '../events.ts'
import { type AgentRunRequest, checkAdvertised, checkRequest } from '../request.ts'
import { ExternalRun, type RunOptions } from './run.ts'
import { versionBefore } from './versions.ts'

/** The ports and settings of an {@link AgentGateway}. */
export interface GatewayOptions {
  readonly log: ExternalLog
  readonly clock: Clock
  /** Absent: no text is redacted. */
  readonly hiding?: Hiding
  readonly backends?: readonly AgentBackend[]
  /**
   * Why processes run unconfined by default; a request may override this. Absent: they are confined if the host
   * supports it.
   */
  readonly unconfined?: string
  /** Locks the working folder of a request for its run; rejects if another run uses the folder. Absent: no lock. */
  hold?(folder: string): Promise<HeldFiles>
}

/** Runs any external agent through one interface (seed 002). */
export class AgentGateway {
  readonly #options: GatewayOptions
  readonly #backends = new Map<string, AgentBackend>()

  constructor(options: GatewayOptions) {
    this.#options = options
    for (const backend of options.backends ?? []) this.register(backend)
  }

  /**
   * Registers a backend. Throws `InvalidAgentKind` for a malformed or registered kind, `UnsupportedCapability` for a
   * foreign id.
   */
  register(backend: AgentBackend): void {
    checkBackends([...this.#backends.values(), backend])
    this.#backends.set(backend.kind, backend)
  }

  kinds(): readonly string[] {
    return [...this.#backends.keys()].sort()
  }

  /** The capabilities of a backend, sorted. Throws `UnknownBackend`. */
  capabilities(kind: string): readonly string[] {
    return [...this.#backend(kind).capabilities].sort()
  }

  /**
   * Starts a run. Rejects with `UnknownBackend`, then with the errors of `checkRequest`; both checks precede the first
   * append and the process. Rejects with `Backend` if the folder is in use or the run cannot be recorded. The handle
   * reports all later errors.
   */
  async run(kind: string, asked: AgentRunRequest, by: StartedBy = {}): Promise<AgentRunHandle> {
    const backend = this.#backend(kind)
    const request = checkRequest(limited(asked, backend, by), backend)
    const { clock, hiding = null } = this.#options
    const confinement = await this.#confinement(backend, request, by)
    const files = await this.#hold(request, by)
    const log = await this.#begin(backend, request, by, files, confinement)
    const more = { ...(files !== undefined && { files }), ...(confinement !== undefined && { confinement }) }
    return new ExternalRun({ backend, request, log, clock, hiding, ...more })
  }

  /**
   * Starts a run that is recorded but was never started. Rejects with the errors of `run`, and if the run was started
   * before. `files`: the working folder's files, locked by another run. `desk`: performs the agent's calls of keepup's
   * tools.
   */
  async take(
    kind: string,
    agentId: string,
    born: RecordedRequest,
    { files, desk }: Pick<RunOptions, 'files' | 'desk'> = {},
  ): Promise<AgentRunHandle> {
    const backend = this.#backend(kind)
    const { envNames: _, name: __, budget, price, ...asked } = born
    const terms = { ...(budget !== undefined && { budget }), ...(price !== undefined && { price }) }
    const request = checkRequest(limited(asked as AgentRunRequest, backend, terms), backend)
    const { clock, hiding = null } = this.#options
    const confinement = await this.#confinement(backend, request, {})
    const log = await this.#options.log.take(agentId, await versionBefore(files), confinement)
    const more = {
      ...(files !== undefined && { files }),
      ...(desk !== undefined && { desk }),
      ...(confinement !== undefined && { confinement }),
    }
    return new ExternalRun({ backend, request, log, clock, hiding, ...more })
  }

  async #confinement(
    backend: AgentBackend,
    request: AgentRunRequest,
    { sandboxed }: StartedBy,
  ): Promise<Confinement | undefined> {
    if (backend.confinement === undefined) return undefined
    if (sandboxed === false) return { confined: false, reason: 'the start asked for it (sandboxed: false)' }
    const { unconfined } = this.#options
    if (sandboxed === undefined && unconfined !== undefined) return { confined: false, reason: unconfined }
    return backend.confinement(request)
  }

  async #hold({ workingDir }: AgentRunRequest, { sharesFolder }: StartedBy): Promise<HeldFiles | undefined> {
    if (workingDir === undefined || sharesFolder === true || this.#options.hold === undefined) return undefined
    try {
      return await this.#options.hold(workingDir)
    } catch (cause) {
      throw new AgentError('Backend', `the working folder cannot be used: ${(cause as Error).message}`, { cause })
    }
  }

  async #begin(
    backend: AgentBackend,
    request: AgentRunRequest,
    by: StartedBy,
    files: HeldFiles | undefined,
    confinement: Confinement | undefined,
  ) {
    const start = {
      kind: 'start',
      backend: backend.kind,
      request: { ...recorded(request, by, this.#options.hiding), ...terms(by) },
      capabilities: [...backend.capabilities].sort(),
      ...(by.parent !== undefined && { parent: by.parent }),
      ...(by.continues !== undefined && { continues: by.continues }),
    } as const
    try {
      return await this.#options.log.begin(start, by, await versionBefore(files), confinement)
    } catch (cause) {
      files?.release()
      throw new AgentError('Backend', `the run could not be recorded: ${(cause as Error).message}`, { cause })
    }
  }

  #backend(kind: string): AgentBackend {
    const backend = this.#backends.get(kind)
    if (backend !== undefined) return backend
    throw new AgentError('UnknownBackend', `there is no such backend; use one of: ${this.kinds().join(', ') || 'none'}`)
  }
}

/** Throws the errors of `register` if these backends cannot be registered together. */
export function checkBackends(backends: readonly AgentBackend[]): void {
  const kinds = new Set<string>()
  for (const backend of backends) {
    checkAgentKind(backend.kind)
    if (kinds.has(backend.kind))
      throw new AgentError('InvalidAgentKind', `${backend.kind} is registered already; register each kind once`)
    checkAdvertised(backend)
    kinds.add(backend.kind)
  }
}

const terms = ({ budget, price }: StartedBy) => ({
  ...(budget !== undefined && { budget }),
  ...(price !== undefined && { price }),
})

/**
 * Passes the money budget to a backend that can enforce it. Throws `InvalidRequest` if the run's cost would be unknown.
 */
function limited(asked: AgentRunRequest, backend: AgentBackend, { budget, price }: StartedBy): AgentRunRequest {
  const most = budget?.nanoDollars ?? null
  if (most === null) return asked
  const { kind, reportsCost = false, budgetExtension: id } = backend
  if (!reportsCost && price === undefined)
    throw new AgentError(
      'InvalidRequest',
      `budget: ${kind} does not tell what a run costs; name a model whose price is known, or give a budget of tokens`,
    )
  if (id === undefined || asked.extensions?.[id] !== undefined) return asked
  return { ...asked, extensions: { ...asked.extensions, [id]: most / 1e9 } }
}

/** The stored part of a request. Any environment value may be a secret, so only the names are stored. */
function recorded({ env, ...request }: AgentRunRequest, { name }: StartedBy, hiding?: Hiding): RecordedRequest {
  const named = { ...request, ...(name !== undefined && { name }) }
  const hidden = hiding?.value(asJson(named)) ?? named
  return { ...(hidden as RecordedRequest), ...(env !== undefined && { envNames: Object.keys(env).sort() }) }
}

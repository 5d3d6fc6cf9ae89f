import type { Clock, Workspace } from '../../ports/index.ts'
import type { Environment, RuntimePorts, SecretBoundary } from '../../ports/runtime.ts'
import { TimeLimitError } from '../../stream/runtime/errors.ts'
import { member, replaced } from '../../stream/runtime/replaced.ts'
import { within } from '../../stream/runtime/time-limit.ts'

/** One page, one blob, or what references stand for, ms. */
const STORE_LIMIT_MS = 60_000
/** A snapshot that takes longer is folded meanwhile, ms: a person's request waits for it. */
const CACHE_LIMIT_MS = 2_000
/** Opening what a run works in, ms. */
const OPEN_LIMIT_MS = 2 * 60_000
/** A shadow version of a large folder takes its time, ms: a gate, which compares two, is still within its call's limit. */
const VERSION_LIMIT_MS = 2 * 60_000
/** Ending the processes of dead drivers, and leaving what a run works in, ms. */
const SETUP_LIMIT_MS = 60_000

/** How long each method may take, ms; one that is not named answers at once, or bounds itself. */
type Limits<T> = { readonly [K in keyof T]?: number }

/**
 * The ports, none of which holds the runtime for ever: what does not answer in time is a {@link TimeLimitError} that says
 * what it was, and an append whose outcome is unknown is LOG_UNAVAILABLE, which is answered by sending it
 * again. Models and tools have limits of their own; the log's subscriptions are meant to wait.
 */
export function limitedPorts(ports: RuntimePorts): RuntimePorts {
  const { clock, intents, snapshots } = ports
  const limit = <T extends object>(what: string, target: T, limits: Limits<T>) => limited(clock, what, target, limits)
  const ms = STORE_LIMIT_MS
  const secrets = (boundary: SecretBoundary) => limit('the vault', boundary, { keep: ms, refresh: ms, resolve: ms })
  const log = limit('the log', ports.log, { head: ms, read: ms, readAll: ms, headCursor: ms, streams: ms })
  return {
    ...ports,
    log,
    blobs: limit('the blob store', ports.blobs, { put: ms, get: ms, part: ms, list: ms, delete: ms }),
    ...(intents ? { intents: limit('the blob store', intents, { begin: ms, end: ms }) } : {}),
    ...(snapshots
      ? { snapshots: limit('the snapshots', snapshots, { latest: CACHE_LIMIT_MS, put: ms, clear: ms }) }
      : {}),
    ...(ports.cache
      ? { cache: limit('the request cache', ports.cache, { get: CACHE_LIMIT_MS, put: CACHE_LIMIT_MS, clear: ms }) }
      : {}),
    ...(ports.limiter
      ? { limiter: limit('the rate limiter', ports.limiter, { admit: CACHE_LIMIT_MS, refused: CACHE_LIMIT_MS }) }
      : {}),
    secrets: async (spec) => secrets(await within(clock, ms, 'the vault', ports.secrets(spec))),
    environment: async (spec, about) => {
      const opening = ports.environment(spec, about)
      const close = (env: Environment, ends = false) =>
        within(clock, SETUP_LIMIT_MS, 'closing what the run works in', env.close(ends))
      const env = await within(clock, OPEN_LIMIT_MS, 'opening what the run works in', opening).catch(
        (error: unknown) => {
          // Where it is opened all the same, no tool works in it.
          if (error instanceof TimeLimitError)
            opening.then((env) => close(env)).catch((late: Error) => ports.warn?.(about.agentId, late.message))
          throw error
        },
      )
      return {
        workspace: env.workspace && limitedWorkspace(clock, env.workspace),
        sandbox: env.sandbox,
        secrets: secrets(env.secrets),
        tool: (name) => env.tool(name),
        reap: () => within(clock, SETUP_LIMIT_MS, 'ending the processes of dead drivers', env.reap()),
        close: (ends) => close(env, ends),
      }
    },
  }
}

/** Tools work under their own limits; these are the methods that the runtime calls. */
function limitedWorkspace(clock: Clock, workspace: Workspace): Workspace {
  const ms = VERSION_LIMIT_MS
  const versions = limited(clock, 'versioning the workspace', workspace.versions, { snapshot: ms, changes: ms })
  const paths = limited(clock, 'the workspace', workspace, { resolve: STORE_LIMIT_MS })
  return replaced(paths, 'versions', versions)
}

function limited<T extends object>(clock: Clock, what: string, target: T, limits: Limits<T>): T {
  const get = (_: T, key: string | symbol) => {
    const found = member(target, key)
    const ms = Object.hasOwn(limits, key) ? limits[key as keyof T] : undefined
    if (typeof found !== 'function' || ms === undefined) return found
    return (...args: unknown[]) => {
      const subject = `${what} (${String(key)})`
      const answer = found(...args) as Promise<unknown> | AsyncIterable<unknown>
      return Symbol.asyncIterator in answer ? pages(clock, ms, subject, answer) : within(clock, ms, subject, answer)
    }
  }
  return new Proxy(target, { get })
}

/** Each page under the limit, not all of them together. */
async function* pages<P>(clock: Clock, ms: number, what: string, source: AsyncIterable<P>): AsyncGenerator<P> {
  const iterator = source[Symbol.asyncIterator]()
  let ended = false
  try {
    for (;;) {
      const next = await within(clock, ms, what, iterator.next())
      ended = next.done === true
      if (next.done) return
      yield next.value
    }
  } catch (error) {
    // A port that hangs does not close on request either.
    ended ||= error instanceof TimeLimitError
    throw error
  } finally {
    if (!ended) await iterator.return?.()
  }
}

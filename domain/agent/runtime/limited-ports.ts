import type { Clock, Workspace } from '../../ports/index.ts'
import type { Environment, RuntimePorts, SecretBoundary } from '../../ports/runtime.ts'
import { TimeLimitError } from '../../stream/runtime/errors.ts'
import { member, replaced } from '../../stream/runtime/replace-member.ts'
import { within } from '../../stream/runtime/time-limit.ts'

/** Timeout of one page, one blob, or one request to the vault, ms. */
const STORE_LIMIT_MS = 60_000
/** Timeout of caches, ms. After it, the state is folded without the snapshot, because a person's request waits. */
const CACHE_LIMIT_MS = 2_000
/** Timeout for opening the environment of a run, ms. */
const OPEN_LIMIT_MS = 2 * 60_000
/** Timeout of a shadow version of a large folder, ms. A gate compares two versions within its call's limit. */
const VERSION_LIMIT_MS = 2 * 60_000
/** Timeout for ending the processes of dead drivers and for closing the environment, ms. */
const SETUP_LIMIT_MS = 60_000

/** The timeout of each method, ms. Methods that are not listed answer at once or have their own limits. */
type Limits<T> = { readonly [K in keyof T]?: number }

/**
 * The ports with timeouts, so that no port blocks the runtime forever. A method that does not answer in time rejects
 * with {@link TimeLimitError}, which names it. An append with an unknown outcome rejects with LOG_UNAVAILABLE; repeat
 * it. Models and tools have their own limits. The log's subscriptions have none, because they are meant to wait.
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
          // If it opens after the timeout, close it unused.
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

/** Limits only the methods that the runtime calls. Tools have their own time limits. */
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

/** Applies the timeout to each page instead of the whole sequence. */
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
    // A hung port would not react to `return` either.
    ended ||= error instanceof TimeLimitError
    throw error
  } finally {
    if (!ended) await iterator.return?.()
  }
}

import { type Backend, OwnerError, ownerSilent } from './backend.ts'
import { probe } from './probe.ts'
import { socketFetch } from './socket-fetch.ts'

export interface RemoteOptions {
  readonly dataFolder: string
  readonly socketPath: string
  readonly token: () => string
  /** The time after which an owner without any response counts as silent, in ms. */
  readonly timeoutMs: number
}

/**
 * The owner, over its socket. During requests, the owner is probed periodically. So a suspended owner is noticed, while
 * a response may take any time.
 */
export function remoteBackend(options: RemoteOptions): Backend {
  const { dataFolder, socketPath, timeoutMs } = options
  const closing = new AbortController()
  // Includes the requests: a garbage-collected request's signal never aborts.
  const underway = new Map<AbortController, Request>()
  let watch: NodeJS.Timeout | null = null
  let checking = false
  let heard = performance.now()

  const check = async () => {
    if (checking) return
    checking = true
    const asked = performance.now()
    const found = await probe(socketPath, timeoutMs)
    checking = false
    if (found === 'answers' || underway.size === 0) return
    // An owner that still answers earlier requests is busy, not silent.
    if (found === 'silent' && heard > asked) return
    const error = found === 'silent' ? ownerSilent(dataFolder) : gone()
    for (const over of underway.keys()) over.abort(error)
  }
  const enter = (over: AbortController, asked: Request) => {
    underway.set(over, asked)
    watch ??= setInterval(() => void check(), timeoutMs).unref()
  }
  const leave = (over: AbortController) => {
    underway.delete(over)
    if (underway.size > 0 || watch === null) return
    clearInterval(watch)
    watch = null
  }

  return {
    kind: 'remote',
    async fetch(asked) {
      const over = new AbortController()
      const signal = AbortSignal.any([asked.signal, closing.signal, over.signal])
      const request = new Request(asked, { signal })
      request.headers.set('authorization', `Bearer ${options.token()}`)
      enter(over, asked)
      try {
        const response = await socketFetch(socketPath, request)
        const hear = () => {
          heard = performance.now()
        }
        hear()
        return new Response(response.body && watched(response.body, over, hear, () => leave(over)), response)
      } catch (error) {
        leave(over)
        if (over.signal.aborted) throw over.signal.reason
        if (asked.signal.aborted) throw asked.signal.reason
        throw gone(error)
      }
    },
    async drain() {},
    async close() {
      closing.abort(new Error('closed'))
      if (watch) clearInterval(watch)
    },
  }
}

const gone = (cause?: unknown): OwnerError =>
  new OwnerError('OWNER_GONE', 'the process that owned the data folder went away; try again', { cause })

/** A body that reports errors as those of the owner, and calls back at each chunk and at its end. */
function watched(
  body: ReadableStream<Uint8Array>,
  over: AbortController,
  hear: () => void,
  end: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          hear()
          if (!done) return controller.enqueue(value)
          end()
          controller.close()
        } catch (error) {
          end()
          controller.error(over.signal.aborted ? over.signal.reason : gone(error))
        }
      },
      async cancel(reason) {
        end()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

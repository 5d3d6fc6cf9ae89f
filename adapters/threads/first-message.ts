import { once } from 'node:events'
import { type ResourceLimits, Worker } from 'node:worker_threads'

/** The address of a file beside a module, by its name without an ending: the compiled package has .js, the source tree .ts. */
export const beside = (module: string, name: string): URL =>
  new URL(`./${name}${module.endsWith('.ts') ? '.ts' : '.js'}`, module)

/**
 * The first message of a thread that runs a file with this data. The thread gets no variables of ours, and is ended in any
 * case. Rejects with an AbortError when the signal aborts, and with what has ended the thread.
 */
export async function firstMessage<T>(
  file: URL,
  workerData: unknown,
  signal: AbortSignal,
  resourceLimits: ResourceLimits = {},
): Promise<T> {
  const worker = new Worker(file, { workerData, env: {}, execArgv: [], resourceLimits })
  try {
    const [found] = await once(worker, 'message', { signal })
    return found as T
  } finally {
    await worker.terminate()
  }
}

import { type ResourceLimits, Worker } from 'node:worker_threads'

/** The address of a file beside a module, by its name without an ending: the compiled package has .js, the source tree .ts. */
export const beside = (module: string, name: string): URL =>
  new URL(`./${name}${module.endsWith('.ts') ? '.ts' : '.js'}`, module)

/**
 * The first message of a thread that runs a file with this data. The thread gets no variables of ours, and is ended in any
 * case. Rejects with the reason of the signal, and with what has ended the thread.
 */
export async function firstMessage<T>(
  file: URL,
  workerData: unknown,
  signal: AbortSignal,
  resourceLimits: ResourceLimits = {},
): Promise<T> {
  signal.throwIfAborted()
  const worker = new Worker(file, { workerData, env: {}, execArgv: [], resourceLimits })
  let leave = () => {}
  try {
    return await new Promise<T>((resolve, reject) => {
      leave = () => reject(signal.reason)
      signal.addEventListener('abort', leave)
      worker.once('message', resolve)
      // Until the thread is gone: an error that nothing hears would end the process.
      worker.on('error', reject)
      worker.once('exit', (code) => reject(new Error(`the thread of ${file} ended with ${code} and gave no answer`)))
    })
  } finally {
    signal.removeEventListener('abort', leave)
    // Not awaited: one that waits within a call of the system, as for a file of a lost disk, ends only after that.
    void worker.terminate()
  }
}

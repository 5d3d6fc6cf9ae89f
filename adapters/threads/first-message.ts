import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { type ResourceLimits, Worker } from 'node:worker_threads'

/**
 * The URL of a file in the folder of a module, by its name without extension. The compiled package has .js files, the
 * source tree .ts files.
 */
export const beside = (module: string, name: string): URL =>
  new URL(`./${name}${module.endsWith('.ts') ? '.ts' : '.js'}`, module)

/**
 * The environment of a thread: no variable but the folder of compiled code. Without it, a thread compiles its modules at
 * every start, which takes longer than most of its work.
 */
export function threadEnv(): Readonly<Record<string, string>> {
  // Node adds a folder for its own version.
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

/**
 * The first message of a new thread that runs a file with this data. The thread is always terminated. Rejects
 * with the signal's reason, or with the error that ended the thread.
 */
export async function firstMessage<T>(
  file: URL,
  workerData: unknown,
  signal: AbortSignal,
  resourceLimits: ResourceLimits = {},
): Promise<T> {
  signal.throwIfAborted()
  const worker = new Worker(file, { workerData, env: threadEnv(), execArgv: [], resourceLimits })
  let leave = () => {}
  try {
    return await new Promise<T>((resolve, reject) => {
      leave = () => reject(signal.reason)
      signal.addEventListener('abort', leave)
      worker.once('message', resolve)
      // Keep the listener until the thread has ended: an unhandled error would end the process.
      worker.on('error', reject)
      worker.once('exit', (code) => reject(new Error(`the thread of ${file} ended with ${code} and gave no answer`)))
    })
  } finally {
    signal.removeEventListener('abort', leave)
    // Do not await: a thread in a blocking system call, such as a read from a lost disk, ends only after that call.
    void worker.terminate()
  }
}

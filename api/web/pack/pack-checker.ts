import { signal } from '@preact/signals'
import { packWorker, trusted } from '../client/workers.ts'
import type { ToCheck, Told } from './check.ts'

/** Checks a pack in a worker of its own. */
export class PackChecker {
  readonly told = signal<Told>({ read: 0 })
  /** The key of the current check. */
  readonly vkey = signal<string | null>(null)
  readonly #file: File
  #worker: Worker | null = null

  constructor(file: File) {
    this.#file = file
  }

  /** Ends a running check and starts again. */
  check(vkey: string | null): void {
    this.stop()
    this.told.value = { read: 0 }
    this.vkey.value = vkey
    const worker = new Worker(trusted(packWorker), { type: 'module' })
    worker.onmessage = ({ data }: MessageEvent<Told>) => {
      this.told.value = data
    }
    worker.onerror = () => {
      this.told.value = { fault: 'the file cannot be checked in this browser; use keepup pack --check FILE' }
    }
    worker.postMessage({ file: this.#file, vkey } satisfies ToCheck)
    this.#worker = worker
  }

  stop(): void {
    this.#worker?.terminate()
    this.#worker = null
  }
}

import { workerData } from 'node:worker_threads'

// The writer's thread, blocked until its gate opens. It then finds all earlier messages at once.

await import('../../../adapters/sqlite/log/worker.ts')
Atomics.wait(new Int32Array((workerData as { gate: SharedArrayBuffer }).gate), 0, 0)

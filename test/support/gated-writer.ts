import { workerData } from 'node:worker_threads'

// The writer's thread, which takes nothing before its gate is opened: what was sent until then it finds all at once.

await import('../../adapters/sqlite/log/worker.ts')
Atomics.wait(new Int32Array((workerData as { gate: SharedArrayBuffer }).gate), 0, 0)

import { parentPort, workerData } from 'node:worker_threads'
import { blameLines } from './blame-lines.ts'
import { patchOf } from './patch.ts'
import type { DiffWork } from './threaded-diff.ts'

// Runs in a separate thread, because the time grows with the square of the difference.

const work = workerData as DiffWork
parentPort?.postMessage(work.kind === 'blame' ? blameLines(work.versions) : patchOf(work.path, work.before, work.after))

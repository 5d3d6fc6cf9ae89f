import { parentPort, workerData } from 'node:worker_threads'
import type { DiffWork } from './apart.ts'
import { blameLines } from './blame-lines.ts'
import { patchOf } from './patch.ts'

// Runs in its own thread: texts that differ much cost the square of their difference.

const work = workerData as DiffWork
parentPort?.postMessage(work.kind === 'blame' ? blameLines(work.versions) : patchOf(work.path, work.before, work.after))

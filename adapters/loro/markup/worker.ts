import { parentPort, workerData } from 'node:worker_threads'
import { type MarkupWork, toTree } from './to-tree.ts'

parentPort?.postMessage(toTree(workerData as MarkupWork))

import { agentRows } from '../../agent/rows/index.ts'
import { documentRows, gatewayRows } from '../../document/index.ts'
import { externalRows } from '../../external/index.ts'
import { memoryRows } from '../../memory/index.ts'
import { contextRows } from '../../store/index.ts'
import type { StreamKind } from './stream-kind.ts'

/** The row rules of each kind of stream, by the first part of the streams' names. */
export type StreamKinds = ReadonlyMap<string, StreamKind>

export const KINDS: StreamKinds = new Map<string, StreamKind>([
  ['agent', agentRows as StreamKind],
  ['document', documentRows as StreamKind],
  ['gateway', gatewayRows as StreamKind],
  ['external', externalRows as StreamKind],
  ['memory', memoryRows as StreamKind],
  ['context', contextRows as StreamKind],
])

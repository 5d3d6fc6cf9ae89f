import { memory } from '../../domain/memory/aggregate.ts'
import { projectionOf } from '../engine/changes/projection.ts'
import { memoryIndexes } from './index-tables.ts'
import { memories } from './rows.ts'
import { memoryTables } from './tables.ts'

export const memoryRows = projectionOf(memory, memoryTables, memories, memoryIndexes)

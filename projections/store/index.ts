import { context } from '../../domain/store/aggregate.ts'
import { projectionOf } from '../engine/changes/projection.ts'
import { contextStores, storedVariables } from './rows.ts'
import { contextTables } from './tables.ts'

export const contextRows = projectionOf(context, contextTables, (event) => [
  ...contextStores(event),
  ...storedVariables(event),
])

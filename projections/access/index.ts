import { access } from '../../domain/access/kind.ts'
import { projectionOf } from '../engine/changes/projection.ts'
import { accessChanges } from './rows.ts'
import { accessTables } from './tables.ts'

export const accessRows = projectionOf(access, accessTables, accessChanges)

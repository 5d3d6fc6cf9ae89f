import { proof } from '../../domain/proof/kind.ts'
import { projectionOf } from '../engine/changes/projection.ts'
import { proofChanges } from './rows.ts'
import { proofTables } from './tables.ts'

export const proofRows = projectionOf(proof, proofTables, proofChanges)

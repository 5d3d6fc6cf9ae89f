import { alteredRowsContract } from '../contracts/projections/altered-rows.ts'
import { sqliteKit } from '../support/projections/kit.ts'

alteredRowsContract(sqliteKit)
